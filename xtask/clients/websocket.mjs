// JSON-RPC 2.0 over WebSocket with the `ws` package: calls, an error, and who is refused.

import WebSocket from 'ws';
import { expect, headers, url } from './check.mjs';

const address = `${url.replace('http', 'ws')}/ws`;
setTimeout(() => {
  console.error('no answer within 20 seconds');
  process.exit(1);
}, 20_000).unref();

// The HTTP status with which an upgrade is refused.
function refusal(options) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, options);
    socket.on('unexpected-response', (request, response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    socket.on('open', () => {
      resolve(101);
      socket.terminate();
    });
    socket.on('error', reject);
  });
}

const socket = new WebSocket(address, { headers });
await new Promise((resolve, reject) => {
  socket.once('open', resolve);
  socket.once('error', reject);
});

// Answers are matched by id; a notification may come in between.
const waiting = new Map();
socket.on('message', (data) => {
  const message = JSON.parse(data);
  waiting.get(message.id)?.(message);
});
let last = 0;
function call(method, params) {
  const id = ++last;
  const answer = new Promise((resolve) => waiting.set(id, resolve));
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  return answer;
}

const names = { component: 'web', key: 'websocket' };
const stored = await call('set_hint', { ...names, value: 'make build' });
expect('set_hint has an error', stored.error, undefined);
const found = await call('get_hint', names);
expect('the value', found.result?.hint?.value, 'make build');
const unknown = await call('no_such_method', {});
expect('the error of an unknown method', unknown.error?.code, -32601);
socket.close();

expect('without the token', await refusal({}), 401);
expect('with a foreign origin', await refusal({ headers, origin: 'https://example.com' }), 403);
console.log(`${last} calls, 2 refusals`);
