// The fixture of the cases on the official TypeScript SDK: a known server for our client.
//   node fixture.mjs --http --port 8931    (Streamable HTTP on 127.0.0.1, path /mcp)
//   node fixture.mjs                       (stdio)
// env: FIXTURE_TTL (seconds, default 600), FIXTURE_KEY (>=32 chars), FIXTURE_AUTH=1,
//      FIXTURE_KEEPALIVE_MS (default 15000), FIXTURE_MODERN_ONLY=1
import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import {
  createMcpHandler, McpServer, ResourceTemplate, createRequestStateCodec, inputRequired,
  completable, ProtocolError, fromJsonSchema, hostHeaderValidationResponse, originValidationResponse,
  localhostAllowedHostnames, localhostAllowedOrigins, requireBearerAuth, OAuthError, OAuthErrorCode,
  oauthMetadataResponse
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';
import * as z from 'zod/v4';

const argv = process.argv.slice(2);
const HTTP = argv.includes('--http');
const PORT = Number(argv[argv.indexOf('--port') + 1] || 8931);
const TTL = Number(process.env.FIXTURE_TTL || 600);
const KEY = process.env.FIXTURE_KEY || createHash('sha256').update(String(Math.random())).digest('hex');
const AUTH = process.env.FIXTURE_AUTH === '1';
const stats = { slow_started: 0, slow_cancelled: 0, slow_completed: 0, listen_bumps: 0 };

const text = t => ({ content: [{ type: 'text', text: t }] });
// canonical digest of the arguments: sorted keys, missing == {}
const canon = v => Array.isArray(v) ? '[' + v.map(canon).join(',') + ']'
  : v && typeof v === 'object' ? '{' + Object.keys(v).sort().map(k => JSON.stringify(k) + ':' + canon(v[k])).join(',') + '}'
  : JSON.stringify(v);
const digest = v => createHash('sha256').update(canon(v ?? {})).digest('base64url');
const codec = createRequestStateCodec({
  key: KEY, ttlSeconds: TTL,
  bind: ctx => `${ctx.mcpReq.method}\0${ctx.http?.authInfo?.clientId ?? ''}`
});
const BAD_STATE = () => new ProtocolError(-32602, 'Invalid or expired requestState');
const mint = (ctx, what, args, extra = {}) => codec.mint({ what, args: digest(args), ...extra }, ctx);
const state = (ctx, what, args) => {
  const s = ctx.mcpReq.requestState();
  if (s === undefined) return undefined;
  if (s.what !== what || s.args !== digest(args)) throw BAD_STATE();
  return s;
};
const str = key => ({ type: 'object', properties: { [key]: { type: 'string' } }, required: [key] });
const answers = ctx => ctx.mcpReq.inputResponses ?? {};
const accepted = (ctx, k, field, type) => {
  const r = Object.hasOwn(answers(ctx), k) ? answers(ctx)[k] : undefined;
  if (r && r.action === 'accept' && r.content && typeof r.content[field] === type) return r.content[field];
  return undefined;
};
const action = (ctx, k) => Object.hasOwn(answers(ctx), k) ? answers(ctx)[k]?.action : undefined;
const elicit = (message, requestedSchema) => inputRequired.elicit({ message, requestedSchema });

function build(publish) {
  return () => {
    const s = new McpServer({ name: 'research-fixture', version: '1.0.0' }, {
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true, listChanged: true }, completions: {}, logging: {} },
      instructions: 'fixture', requestState: { verify: codec.verify }
    });
    s.registerTool('echo', { description: 'echo', inputSchema: z.object({ text: z.string() }) }, async a => text(`echo:${a.text}`));
    s.registerTool('noargs', { description: 'no arguments' }, async () => text('noargs-ok'));
    s.registerTool('kv', { description: 'any json in, digest out', inputSchema: z.looseObject({}) }, async a => text(canon(a)));
    s.registerTool('boom', { description: 'throws', inputSchema: z.object({}) }, async () => { throw new Error('secret-detail /srv/app/private.pem'); });

    s.registerTool('ask_name', { description: 'MRTR, one question', inputSchema: z.looseObject({}) }, async (args, ctx) => {
      state(ctx, 'ask_name', args);
      const n = accepted(ctx, 'user_name', 'name', 'string');
      if (n !== undefined) return text(`Hello, ${n}!`);
      const a = action(ctx, 'user_name');
      if (a === 'decline') return text('declined');
      if (a === 'cancel') return text('cancelled');
      return inputRequired({ inputRequests: { user_name: elicit('What is your name?', str('name')) }, requestState: await mint(ctx, 'ask_name', args) });
    });
    s.registerTool('ask_noargs', { description: 'MRTR without parameters' }, async ctx => {
      state(ctx, 'ask_noargs', {});
      const n = accepted(ctx, 'user_name', 'name', 'string');
      if (n !== undefined) return text(`Hello, ${n}!`);
      return inputRequired({ inputRequests: { user_name: elicit('Name?', str('name')) }, requestState: await mint(ctx, 'ask_noargs', {}) });
    });
    s.registerTool('two_step', { description: 'MRTR, two rounds', inputSchema: z.object({}) }, async (args, ctx) => {
      const st = state(ctx, 'two_step', args);
      if (st?.first !== undefined) {
        const second = accepted(ctx, 'second', 'v', 'string');
        if (second !== undefined) return text(`${st.first}+${second}`);
        return inputRequired({ inputRequests: { second: elicit('second?', str('v')) }, requestState: await mint(ctx, 'two_step', args, { first: st.first }) });
      }
      const first = accepted(ctx, 'first', 'v', 'string');
      if (first !== undefined) return inputRequired({ inputRequests: { second: elicit('second?', str('v')) }, requestState: await mint(ctx, 'two_step', args, { first }) });
      return inputRequired({ inputRequests: { first: elicit('first?', str('v')) }, requestState: await mint(ctx, 'two_step', args) });
    });
    s.registerTool('ask_two', { description: 'MRTR, two questions in one round', inputSchema: z.object({}) }, async (args, ctx) => {
      const st = state(ctx, 'ask_two', args) ?? {};
      const a = accepted(ctx, 'a', 'v', 'string') ?? st.a, b = accepted(ctx, 'b', 'v', 'string') ?? st.b;
      if (a !== undefined && b !== undefined) return text(`${a}&${b}`);
      const q = {};
      if (a === undefined) q.a = elicit('a?', str('v'));
      if (b === undefined) q.b = elicit('b?', str('v'));
      return inputRequired({ inputRequests: q, requestState: await mint(ctx, 'ask_two', args, { a, b }) });
    });
    s.registerTool('transfer', { description: 'MRTR bound to its arguments', inputSchema: z.looseObject({ amount: z.number(), to: z.string() }) }, async (args, ctx) => {
      const st = state(ctx, 'transfer', args);
      const ok = accepted(ctx, 'confirm', 'ok', 'boolean');
      if (st && ok === true) return text(`transferred ${args.amount} to ${args.to}`);
      if (st && (ok === false || action(ctx, 'confirm') === 'decline')) return text('not transferred');
      return inputRequired({
        inputRequests: { confirm: elicit(`Send ${args.amount} to ${args.to}?`, { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }) },
        requestState: await mint(ctx, 'transfer', args)
      });
    });
    s.registerTool('state_only', { description: 'load shedding', inputSchema: z.object({}) }, async (args, ctx) => {
      const st = state(ctx, 'state_only', args);
      if (st) return text('state-only-done');
      return inputRequired({ requestState: await mint(ctx, 'state_only', args) });
    });
    s.registerTool('structured_ask', { description: 'MRTR with outputSchema', inputSchema: z.object({}), outputSchema: z.object({ name: z.string() }) }, async (args, ctx) => {
      state(ctx, 'structured_ask', args);
      const n = accepted(ctx, 'user_name', 'name', 'string');
      if (n !== undefined) return { content: [{ type: 'text', text: JSON.stringify({ name: n }) }], structuredContent: { name: n } };
      return inputRequired({ inputRequests: { user_name: elicit('Name?', str('name')) }, requestState: await mint(ctx, 'structured_ask', args) });
    });
    s.registerTool('bad_output', { description: 'violates its outputSchema', inputSchema: z.object({}), outputSchema: z.object({ n: z.number() }) }, async () => ({ content: [{ type: 'text', text: 'x' }], structuredContent: { n: 'NaN' } }));
    s.registerTool('steps', { description: 'progress', inputSchema: z.object({ steps: z.number().int() }) }, async ({ steps }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (let i = 1; i <= steps; i++) if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: i, total: steps } });
      return text(`steps:${steps}`);
    });
    s.registerTool('log_it', { description: 'log message', inputSchema: z.object({}) }, async (_a, ctx) => { await ctx.mcpReq.log('warning', 'fixture-log'); return text('logged'); });
    s.registerTool('slow', { description: 'sleeps', inputSchema: z.object({ ms: z.number() }) }, async ({ ms }, ctx) => {
      stats.slow_started++;
      const progressToken = ctx.mcpReq._meta?.progressToken;
      const end = Date.now() + ms; let i = 0;
      while (Date.now() < end) {
        if (ctx.mcpReq.signal.aborted) { stats.slow_cancelled++; return text('aborted'); }
        if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: ++i } }).catch(() => {});
        await new Promise(r => setTimeout(r, 50));
      }
      stats.slow_completed++;
      return text('slow-done');
    });
    s.registerTool('stats', { description: 'counters', inputSchema: z.object({}) }, async () => text(JSON.stringify(stats)));
    s.registerTool('bump', { description: 'announce changes', inputSchema: z.object({}) }, async () => {
      stats.listen_bumps++;
      if (publish) { publish.toolsChanged(); publish.resourceUpdated('test://static'); }
      else { s.sendToolListChanged(); await s.server.sendResourceUpdated({ uri: 'test://static' }).catch(() => {}); }
      return text('bumped');
    });
    s.registerTool('region_query', {
      description: 'x-mcp-header', inputSchema: z.object({
        region: z.string().optional().meta({ 'x-mcp-header': 'Region' }), count: z.number().int().optional().meta({ 'x-mcp-header': 'Count' }), query: z.string()
      })
    }, async a => text(`region:${a.region ?? '-'} count:${a.count ?? '-'} query:${a.query}`));

    s.registerTool('pair', {
      description: '2020-12 schema', inputSchema: fromJsonSchema({
        type: 'object', $defs: { mode: { enum: ['x', 'y'] } }, unevaluatedProperties: false, dependentRequired: { pair: ['mode'] },
        properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false }, mode: { $ref: '#/$defs/mode' } }
      })
    }, async () => text('pair-ok'));

    s.registerPrompt('greet', { description: 'greet', argsSchema: z.object({ name: completable(z.string(), v => Array.from({ length: 150 }, (_, i) => `n${i}`).filter(x => x.startsWith(v))) }) },
      async ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `greet ${name}` } }] }));
    s.registerPrompt('ask_prompt', { description: 'MRTR prompt' }, async ctx => {
      state(ctx, 'ask_prompt', {});
      const n = accepted(ctx, 'user_name', 'name', 'string');
      if (n !== undefined) return { messages: [{ role: 'user', content: { type: 'text', text: `prompt for ${n}` } }] };
      return inputRequired({ inputRequests: { user_name: elicit('Name?', str('name')) }, requestState: await mint(ctx, 'ask_prompt', {}) });
    });
    s.registerResource('static', 'test://static', { mimeType: 'text/plain' }, async u => ({ contents: [{ uri: u.href, mimeType: 'text/plain', text: 'static-text' }] }));
    s.registerResource('ask', 'test://ask', { mimeType: 'text/plain' }, async (u, ctx) => {
      state(ctx, 'test://ask', {});
      const n = accepted(ctx, 'user_name', 'name', 'string');
      if (n !== undefined) return { contents: [{ uri: u.href, mimeType: 'text/plain', text: `resource for ${n}` }] };
      return inputRequired({ inputRequests: { user_name: elicit('Name?', str('name')) }, requestState: await mint(ctx, 'test://ask', {}) });
    });
    s.registerResource('item', new ResourceTemplate('test://item/{id}', { list: undefined }), { mimeType: 'text/plain' }, async (u, v) => {
      let id; try { id = decodeURIComponent(String(v.id)); } catch { throw new ProtocolError(-32602, 'Malformed resource URI'); }
      return { contents: [{ uri: u.href, mimeType: 'text/plain', text: `item ${id}` }] };
    });
    return s;
  };
}

if (!HTTP) {
  void serveStdio(build(null));
} else {
  let notify;
  const handler = createMcpHandler(build({ toolsChanged: () => notify.toolsChanged(), resourceUpdated: u => notify.resourceUpdated(u) }),
    { keepAliveMs: Number(process.env.FIXTURE_KEEPALIVE_MS || 15000), legacy: process.env.FIXTURE_MODERN_ONLY === '1' ? 'reject' : 'stateless' });
  notify = handler.notify;
  const TOK = { 'alice-token': ['alice', ['mcp']], 'bob-token': ['bob', ['mcp']], 'noscope-token': ['carol', []] };
  const base = `http://127.0.0.1:${PORT}`;
  const prm = `${base}/.well-known/oauth-protected-resource/mcp`;
  const gate = AUTH && requireBearerAuth({
    verifier: { async verifyAccessToken(t) {
      if (!Object.hasOwn(TOK, t)) throw new OAuthError(OAuthErrorCode.InvalidToken, 'unknown token');
      return { token: t, clientId: TOK[t][0], scopes: TOK[t][1], expiresAt: Math.floor(Date.now() / 1000) + 3600, resource: new URL(`${base}/mcp`) };
    } }, requiredScopes: ['mcp'], resourceMetadataUrl: prm });
  const fetchHandler = async req => {
    const bad = hostHeaderValidationResponse(req, localhostAllowedHostnames()) ?? originValidationResponse(req, localhostAllowedOrigins());
    if (bad) return bad;
    const path = new URL(req.url).pathname;
    if (AUTH && path === '/.well-known/oauth-protected-resource/mcp')
      return Response.json({ resource: `${base}/mcp`, authorization_servers: ['https://auth.example.com'], scopes_supported: ['mcp'] });
    if (path !== '/mcp') return new Response('not found', { status: 404 });
    if (gate) { const a = await gate(req); if (a instanceof Response) return a; return handler.fetch(req, { authInfo: a }); }
    return handler.fetch(req);
  };
  const srv = createServer(toNodeHandler({ fetch: fetchHandler }));
  srv.listen(PORT, '127.0.0.1', () => console.error(`listening on ${base}/mcp`));
  const stop = () => { void handler.close?.(); srv.close(() => process.exit(0)); setTimeout(() => process.exit(0), 3000).unref(); };
  process.on('SIGTERM', stop); process.on('SIGINT', stop);
}
