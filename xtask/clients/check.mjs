// What both generations of the TypeScript SDK have to see: tools, a stored hint, the resource, an update.

export const url = process.env.REKINDLE_URL;
export const headers = { Authorization: `Bearer ${process.env.REKINDLE_TOKEN}` };

// The parameters of a stdio server: the binary with its home.
export function stdioServer() {
  const environment = Object.entries(process.env).filter(
    ([name]) => name.startsWith('REKINDLE_') || name === 'HOME',
  );
  return { command: process.env.REKINDLE_BINARY, args: ['serve'], env: Object.fromEntries(environment) };
}

export function expect(what, actual, wanted) {
  if (JSON.stringify(actual) !== JSON.stringify(wanted)) {
    console.error(`${what}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(actual)}`);
    process.exit(1);
  }
}

// Subscribes to a set of a session's context, changes it and waits for the update. Returns how it subscribed.
async function subscribed(client, key, revision) {
  const uri = `context://${key}/ports`;
  const updated = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`no update of ${uri}`)), 10_000).unref();
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === 'notifications/resources/updated') {
        resolve(params.uri);
      }
    };
  });
  const listens = revision === '2026-07-28';
  if (listens) {
    await client.listen({ resourceSubscriptions: [uri] });
  } else if (client.getServerCapabilities().resources.subscribe) {
    await client.subscribeResource({ uri });
  } else {
    return 'no subscriptions';
  }
  await client.callTool({
    name: 'set_relevant_context',
    arguments: { setName: 'ports', items: ['8080'], session_id: key },
  });
  expect('the updated resource', await updated, uri);
  const items = await client.readResource({ uri });
  expect('the items', JSON.parse(items.contents[0].text), ['8080']);
  return listens ? 'listened' : 'subscribed';
}

// Goes through the calls with a connected client and prints the line for the summary.
export async function check(client, key, revision) {
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  expect('set_hint is listed', tools.includes('set_hint'), true);

  const stored = await client.callTool({
    name: 'set_hint',
    arguments: { component: 'web', key, value: 'make build' },
  });
  expect('set_hint is an error', stored.isError ?? false, false);

  const found = await client.callTool({ name: 'get_hint', arguments: { component: 'web', key } });
  expect('the structured value', found.structuredContent?.hint?.value, 'make build');
  expect('the value as text', JSON.parse(found.content[0].text), found.structuredContent);

  const missing = await client.callTool({
    name: 'get_hint',
    arguments: { component: 'web', key: 'nothing' },
  });
  expect('an unknown hint is an error', missing.isError, true);

  const resource = await client.readResource({ uri: `hint://web/${key}` });
  expect('the resource has the value', resource.contents[0].text.includes('make build'), true);

  // A closed client has forgotten what was agreed.
  const agreed = revision();
  const how = await subscribed(client, key, agreed);
  await client.close();
  console.log(`revision ${agreed}, ${tools.length} tools, ${how}`);
}
