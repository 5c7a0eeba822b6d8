// The TypeScript SDK, second generation, over the transport named by the first argument; the second
// pins a protocol revision, without it the client shakes hands as older ones do.

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { check, expect, headers, stdioServer, url } from './check.mjs';

const [name, pin] = process.argv.slice(2);
const transports = {
  stdio: () => new StdioClientTransport(stdioServer()),
  http: () => new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }),
  sse: () => new SSEClientTransport(new URL('/sse', url), { requestInit: { headers } }),
};

const client = new Client(
  { name: 'rekindle-check', version: '1.0.0' },
  pin ? { versionNegotiation: { mode: { pin } } } : {},
);
await client.connect(transports[name]());
if (pin) {
  expect('the revision', client.getNegotiatedProtocolVersion(), pin);
}
await check(client, `ts2-${name}-${pin ?? 'default'}`, () => client.getNegotiatedProtocolVersion());
