// The tool `add` of signet_server.cc on the official TypeScript SDK, for bench/http.   node sdk.mjs PORT
import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import * as z from 'zod/v4';

function build() {
  const server = new McpServer({ name: 'bench', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = z.object({ a: z.int(), b: z.int(), note: z.string() });
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema },
    async ({ a, b, note }) => ({ content: [{ type: 'text', text: `${a + b} for ${note}` }] }));
  return server;
}

const handler = createMcpHandler(build, { legacy: 'reject' });
createServer(toNodeHandler({ fetch: request => handler.fetch(request) })).listen(Number(process.argv[2]), '127.0.0.1');
