// A server on the v1 line of the official TypeScript SDK, whose questions are requests of a session (2025-11-25 and before).
//   node v1.mjs PORT    over HTTP; without it, on the standard streams
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod/v4';

const text = t => ({ content: [{ type: 'text', text: t }] });
const form = key => ({ type: 'object', properties: { [key]: { type: 'string' } }, required: [key] });

function build() {
  const s = new McpServer({ name: 'v1-fixture', version: '1.0.0' });
  const ask = async (message, key) => (await s.server.elicitInput({ message, requestedSchema: form(key) })).content[key];
  s.registerTool('echo', { inputSchema: { text: z.string() } }, async a => text(`echo:${a.text}`));
  s.registerTool('two_step', {}, async () => text(`${await ask('first?', 'v')}+${await ask('second?', 'v')}`));
  s.registerTool('ask_action', {}, async () => text((await s.server.elicitInput({ message: 'Sure?', requestedSchema: form('v') })).action));
  s.registerPrompt('greet', { argsSchema: { name: z.string() } },
    async a => ({ messages: [{ role: 'user', content: { type: 'text', text: `greet ${a.name}` } }] }));
  s.registerPrompt('ask_prompt', {},
    async () => ({ messages: [{ role: 'user', content: { type: 'text', text: `prompt for ${await ask('Name?', 'name')}` } }] }));
  s.registerResource('static', 'test://static', {}, async u => ({ contents: [{ uri: u.href, text: 'static-text' }] }));
  s.registerResource('ask', 'test://ask', {}, async u => ({ contents: [{ uri: u.href, text: `resource for ${await ask('Name?', 'name')}` }] }));
  return s;
}

// At /forgetful, a session is forgotten after `initialized` and one request: what a restart in the middle looks like to a client.
const sessions = new Map();
const posted = new Map();
async function serve(request, response) {
  const id = request.headers['mcp-session-id'];
  if (id !== undefined && !sessions.has(id)) {
    response.writeHead(404, { 'Content-Type': 'application/json' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }));
  }
  let transport = sessions.get(id);
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: i => { sessions.set(i, transport); } });
    await build().connect(transport);
  }
  await transport.handleRequest(request, response);
  if (request.url === '/forgetful' && request.method === 'POST' && id !== undefined) {
    posted.set(id, (posted.get(id) ?? 0) + 1);
    if (posted.get(id) === 2) sessions.delete(id);
  }
}

const port = process.argv[2];
if (port === undefined) {
  await build().connect(new StdioServerTransport());
} else {
  createServer(serve).listen(Number(port), '127.0.0.1');
}
