// The official TypeScript client (2026-07-28) resolves tickets of examples/tickets, answering with its own handler.
//   tickets.mjs http URL [URL]...   each request goes to the next URL, so that with two of them one process asks and
//                                  the other finishes
//   tickets.mjs stdio COMMAND...
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [kind, ...where] = process.argv.slice(2);
let requests = 0;
const asked = [];
let answers = [];

function nextServer(_url, init) {
  return fetch(new URL(where[requests++ % where.length]), init);
}

const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(where[0]), { fetch: nextServer })
  : new StdioClientTransport({ command: where[0], args: where.slice(1), stderr: 'inherit' });
const client = new Client({ name: 'interop', version: '1' }, {
  capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } }
});
client.setRequestHandler('elicitation/create', async request => {
  asked.push(request.params);
  return answers.shift();
});

// Calls the tool with these answers at hand; returns its text.
async function resolve(...given) {
  asked.length = 0;
  answers = given;
  const result = await client.callTool({ name: 'resolve_ticket', arguments: { ticket: 7 } });
  assert.equal(answers.length, 0, 'every answer was asked for');
  assert.ok(!result.isError, JSON.stringify(result));
  return result.content.map(block => block.text).join('\n');
}

const accept = content => ({ action: 'accept', content });
const field = question => Object.keys(question.requestedSchema.properties)[0];

await client.connect(transport);
assert.deepEqual((await client.listTools()).tools.map(tool => tool.name), ['resolve_ticket']);

const fixed = await resolve(accept({ resolution: 'Fixed' }));
assert.equal(asked.length, 1);
assert.equal(field(asked[0]), 'resolution');
assert.deepEqual(asked[0].requestedSchema.properties.resolution.enum, ['Fixed', "Won't fix", 'Duplicate', 'By design']);
assert.match(fixed, /Fixed/);

const duplicate = await resolve(accept({ resolution: 'Duplicate' }), accept({ original: 3 }));
assert.equal(asked.length, 2);
assert.equal(field(asked[1]), 'original');
assert.match(duplicate, /[Dd]uplicate/);
assert.match(duplicate, /3/);

const open = await resolve({ action: 'decline' });
assert.match(open, /open/);

// An answer that does not fit the question is asked for again.
await resolve(accept({ resolution: 'Whatever' }), accept({ resolution: 'By design' }));
assert.equal(asked.length, 2);

await client.close();
console.log(`${kind}: both branches, a refusal and a wrong answer, over ${where.length > 1 && kind === 'http' ? 'two processes' : 'one process'}`);
process.exit(0);
