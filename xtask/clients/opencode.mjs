// Our plugin for OpenCode, driven as OpenCode drives it: what it sends is taken, what is to be told arrives,
// and a command that is missing changes nothing.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from './check.mjs';

const binary = process.env.REKINDLE_BINARY;
const folder = join(process.env.HOME, 'opencode');
const directory = join(folder, 'app');
mkdirSync(directory, { recursive: true });

// The plugin as it is installed, calling this command.
async function plugin(name, command) {
  const text = readFileSync(process.env.REKINDLE_PLUGIN, 'utf8');
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, text.replace('const COMMAND = "rekindle"', `const COMMAND = ${JSON.stringify(command)}`));
  return (await import(pathToFileURL(path).href)).Rekindle({ directory });
}

// The `edit` tool as OpenCode calls it, on a file of the project.
async function edit(hooks, sessionID) {
  const args = { filePath: join(directory, 'tank.py'), oldString: 'depth = 1', newString: 'depth = 2' };
  const call = { tool: 'edit', sessionID, callID: 'call_1' };
  await hooks['tool.execute.before'](call, { args });
  const result = { title: 'tank.py', output: 'Edit applied successfully.', metadata: { diagnostics: {} } };
  await hooks['tool.execute.after']({ ...call, args }, result);
}

// One session: it is asked something, runs a command that fails, edits a file, and answers. What its model reads.
async function session(hooks, id) {
  await hooks.event({ event: { type: 'session.created', properties: { info: { id } } } });
  const part = { type: 'text', text: 'tame the zebrafish' };
  await hooks['chat.message']({ sessionID: id }, { message: { id: `msg_${id}` }, parts: [part] });
  const args = { command: 'aquarium build' };
  const call = { tool: 'bash', sessionID: id, callID: 'call_0' };
  await hooks['tool.execute.before'](call, { args });
  const result = { title: '', output: 'no', metadata: { exit: 2 } };
  await hooks['tool.execute.after']({ ...call, args }, result);
  await edit(hooks, id);
  const prompt = { system: ['its own'] };
  await hooks['experimental.chat.system.transform']({ sessionID: id }, prompt);
  await hooks['experimental.session.compacting']({ sessionID: id }, { context: [] });
  await hooks.event({ event: { type: 'session.compacted', properties: { sessionID: id } } });
  const after = { system: [] };
  await hooks['experimental.chat.system.transform']({ sessionID: id }, after);
  await hooks.event({ event: { type: 'session.idle', properties: { sessionID: id } } });
  // What it cannot understand does no harm either.
  await hooks.event({});
  await hooks.dispose();
  return { system: prompt.system, after: after.system, output: result.output };
}

execFileSync(binary, ['hint', 'set', 'aquarium', 'build', 'make all']);
const hooks = await plugin('with', binary);
const hint = 'no\n\n## Hints for this command\n- aquarium/build: make all';
const first = await session(hooks, 'ses_1');
expect('the first session has nothing to be told', first.system, ['its own']);
expect('the hint beside the result', first.output, hint);
const second = await session(hooks, 'ses_2');
expect('the second one has a briefing', second.system.length, 2);
for (const text of [second.system[1], second.after[0]]) {
  expect('it tells what was asked', text?.includes('tame the zebrafish'), true);
  expect('it names the file that was edited', text?.includes('tank.py'), true);
}
const none = await session(await plugin('without', join(folder, 'no-such-command')), 'ses_3');
expect('a missing command changes nothing', none, { system: ['its own'], after: [], output: 'no' });
const { results } = JSON.parse(execFileSync(binary, ['search', 'aquarium', '--project', '*', '--json']));
// The command failed alike in both sessions, which is one hit.
const found = results.map((hit) => [hit.obs_type, hit.count]);
expect('what is found', found, [['command_error', 2]]);
console.log('3 sessions, a briefing, a hint');
