// The official TypeScript client of the handshake revisions (v1 line, 2025-11-25) against fixture_server: list, call, two rounds, a prompt, a resource, a cancellation.
//   v1.mjs http URL
//   v1.mjs stdio COMMAND...
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [kind, ...where] = process.argv.slice(2);
const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(where[0]))
  : new StdioClientTransport({ command: where[0], args: where.slice(1), stderr: 'inherit' });
const client = new Client({ name: 'interop', version: '1' }, {
  capabilities: { elicitation: {} }
});
const replies = { first: 'one', second: 'two', name: 'Ada' };
let asked = 0;
client.setRequestHandler(ElicitRequestSchema, async request => {
  asked++;
  const [field] = Object.keys(request.params.requestedSchema.properties);
  const key = field === 'v' ? (asked === 1 ? 'first' : 'second') : field;
  return { action: 'accept', content: { [field]: replies[key] } };
});
const call = async (name, args, options) => (await client.callTool({ name, arguments: args }, undefined, options)).content[0].text;

await client.connect(transport);
assert.ok((await client.listTools()).tools.length > 10);
assert.equal(await call('echo', { text: 'grüße' }), 'echo:grüße');
assert.equal(await call('two_step', {}), 'one+two');
assert.equal(asked, 2);
assert.equal((await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })).messages[0].content.text, 'greet Ada');
assert.equal((await client.getPrompt({ name: 'ask_prompt' })).messages[0].content.text, 'prompt for Ada');
assert.equal((await client.readResource({ uri: 'test://static' })).contents[0].text, 'static-text');
assert.equal((await client.readResource({ uri: 'test://item/a%20b' })).contents[0].text, 'item a b');

const before = JSON.parse(await call('stats', {})).slow_cancelled;
const stop = new AbortController();
const progress = new Promise(resolve => {
  call('slow', { ms: 20000 }, { signal: stop.signal, onprogress: resolve }).catch(() => {});
});
await progress;
stop.abort();
for (let tries = 0; JSON.parse(await call('stats', {})).slow_cancelled === before; tries++) {
  assert.ok(tries < 100, 'the handler heard of the cancellation');
  await new Promise(resolve => setTimeout(resolve, 50));
}

if (kind === 'http') await transport.terminateSession();
await client.close();
console.log(`TypeScript v1 ${kind}: list, call, two rounds, prompt, resource, cancellation`);
process.exit(0);
