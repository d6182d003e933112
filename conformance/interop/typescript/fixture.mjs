// The official TypeScript client against fixture_server: list, call, two rounds, a prompt, a resource, a cancellation.
//   fixture.mjs VERSION http URL          VERSION: 2026-07-28, or `handshake` for what the client agrees on
//   fixture.mjs VERSION stdio COMMAND...
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [version, kind, ...where] = process.argv.slice(2);
const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(where[0]))
  : new StdioClientTransport({ command: where[0], args: where.slice(1), stderr: 'inherit' });
const client = new Client({ name: 'interop', version: '1' }, {
  capabilities: { elicitation: {} },
  versionNegotiation: version === 'handshake' ? { mode: 'legacy' } : { mode: { pin: version } }
});
const replies = { first: 'one', second: 'two', name: 'Ada' };
let asked = 0;
client.setRequestHandler('elicitation/create', async request => {
  asked++;
  const [field] = Object.keys(request.params.requestedSchema.properties);
  const key = field === 'v' ? (asked === 1 ? 'first' : 'second') : field;
  return { action: 'accept', content: { [field]: replies[key] } };
});
const call = async (name, args, options) => (await client.callTool({ name, arguments: args }, options)).content[0].text;

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

await client.close();
console.log(`TypeScript ${version} ${kind}: list, call, two rounds, prompt, resource, cancellation`);
process.exit(0);
