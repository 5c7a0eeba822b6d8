// The TypeScript SDK, first generation, over the transport named by the first argument.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check, headers, stdioServer, url } from './check.mjs';

const name = process.argv[2];
const transports = {
  stdio: () => new StdioClientTransport(stdioServer()),
  http: () => new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }),
  sse: () => new SSEClientTransport(new URL('/sse', url), { requestInit: { headers } }),
};

const transport = transports[name]();
const agreed = {};
transport.setProtocolVersion ??= () => {};
const set = transport.setProtocolVersion.bind(transport);
transport.setProtocolVersion = (version) => {
  agreed.version = version;
  set(version);
};

const client = new Client({ name: 'rekindle-check', version: '1.0.0' });
await client.connect(transport);
await check(client, `ts1-${name}`, () => agreed.version ?? 'unknown');
