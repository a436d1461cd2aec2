import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';
import type { DeviceTool } from '@svc/contract/device-tools.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { callTool, toolbeltOf } from './call-tool.ts';
import { from, openToolbeltBench, planted } from './open-toolbelt-bench.ts';

const bench = openToolbeltBench();
const { inTurn } = bench;

const tools: DeviceTool[] = [
  { name: 'locate', description: 'Where the device is.', policy: 'read' },
  {
    name: 'snap',
    description: 'Takes a picture.',
    policy: 'full',
    input: { type: 'object', properties: { flash: { type: 'boolean' } } },
  },
  { name: 'unlock', description: 'Opens the door.', policy: 'full', min_trust: 'TRUSTED' },
];
const onDevice = (who: string, over: Partial<Envelope> = {}) => from(who, { device_tools: tools, ...over });
const deviceOf = ({ toolServers }: EngineRequest) => {
  const server = toolServers.find(({ name }) => name === 'svc-device');
  return server?.type === 'http' ? server : null;
};
const neededDevice = (request: EngineRequest) => {
  const device = deviceOf(request);
  if (device === null) throw new Error('the turn has no device');
  return device;
};
const use = (message: Envelope, name: string, input: object = {}) =>
  inTurn(message, (request) => callTool(neededDevice(request), name, input));
const list = (message: Envelope) =>
  inTurn(message, async (request) => {
    const device = deviceOf(request);
    if (device === null) return null;
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(device.url), { requestInit: { headers: device.headers } }));
    const listed = await client.listTools();
    await client.close();
    return listed.tools.map(({ name }) => name);
  });
const calls = () => bench.manager.requests.filter(({ url }) => url.endsWith('/call'));

test('a device tool is called through the connector instance, and secrets in its result are masked', async () => {
  bench.manager.answers.set('/instances/m1/call', { ok: true, result: { seen: `a cat and ${planted}` } });
  const { result } = await use(onDevice('trusted'), 'snap', { flash: true });
  expect(result).toEqual({ seen: 'a cat and [redacted:secret]' });
  expect(calls()).toEqual([
    {
      url: '/instances/m1/call',
      authorization: 'Bearer manager-token-of-the-test',
      body: { target: 'chat-trusted', method: 'snap', params: { flash: true } },
    },
  ]);
});

test.each([
  ['trusted', ['locate', 'snap', 'unlock']],
  ['worker', ['locate', 'snap']],
  ['reader', ['locate']],
  ['visitor', null],
])('the role of %s permits the device tools %j', async (who, names) => {
  expect(await list(onDevice(who))).toEqual(names);
});

test('a turn has no device tools when its message names none or is public', async () => {
  expect(await list(from('trusted'))).toBeNull();
  expect(await list(onDevice('trusted', { public: true }))).toBeNull();
  expect(await list(onDevice('trusted', { device_tools: [] }))).toBeNull();
});

test('a public turn has only tools marked public, and their input is masked', async () => {
  const post: DeviceTool = { name: 'post', description: 'Posts a text.', policy: 'full', public: true };
  const inPublic = { public: true, device_tools: [...tools, post] };
  expect(await list(onDevice('trusted', inPublic))).toEqual(['post']);
  expect(await list(onDevice('reader', inPublic))).toBeNull();
  bench.manager.answers.set('/instances/m1/call', { ok: true, result: null });
  await use(onDevice('trusted', inPublic), 'post', { text: `take ${planted} to ann@kern-family.de` });
  expect(calls().at(-1)?.body).toMatchObject({
    params: { text: 'take [redacted:secret] to [redacted:email]' },
  });
});

test('a tool beyond the rights of the sender or unknown to the device is refused and reported', async () => {
  const refused = await inTurn(onDevice('reader'), async (request) => {
    const token = new Secret((neededDevice(request).headers['Authorization'] ?? '').replace('Bearer ', ''));
    const url = new URL(`http://127.0.0.1:${bench.core.context.settings.corePort}/v2/device-tools`).href;
    const ask = (body: object) => requestJson<{ error: string }>(url, { token, body, timeoutMs: 40_000 });
    return Promise.all([ask({ tool: 'snap' }), ask({ tool: 'reboot' }), ask({ tool: 'constructor' }), ask({ tool: '../x' })]);
  });
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 400]);
  expect(calls()).toEqual([]);
  expect(bench.core.telemetry.events.filter(({ payload }) => payload?.['what'] === 'tool_refused').length).toBeGreaterThanOrEqual(
    3,
  );
});

test('the device token and the toolbelt token are not interchangeable', async () => {
  const crossed = await inTurn(onDevice('trusted'), async (request) => {
    const [device, toolbelt] = [neededDevice(request), toolbeltOf(request)];
    const port = bench.core.context.settings.corePort;
    const ask = (path: string, { headers }: { headers: Record<string, string> }, body: object) =>
      requestJson(`http://127.0.0.1:${port}${path}`, {
        headers: { authorization: headers['Authorization'] ?? '' },
        body,
        timeoutMs: 40_000,
      });
    return Promise.all([
      ask('/v2/toolbelt/svc_sessions', device, {}),
      ask('/v2/device-tools', toolbelt, { tool: 'locate' }),
      ask('/v2/device-tools', { headers: {} }, { tool: 'locate' }),
    ]);
  });
  expect(crossed.map(({ status }) => status)).toEqual([401, 401, 401]);
});

test('a device token expires with its turn, and a later turn gets tools by its own rights', async () => {
  const held = await inTurn(onDevice('trusted'), async (request) => neededDevice(request));
  await expect(callTool(held, 'locate')).rejects.toThrow();
  bench.manager.answers.set('/instances/m1/call', { ok: true, result: null });
  const group = { conversation_key: 'messenger:m1:channel:g' };
  await inTurn(onDevice('trusted', group), async (request) => neededDevice(request));
  const guest = await inTurn(onDevice('visitor', group), async (request) => deviceOf(request));
  expect(guest).toBeNull();
});

test('an error of the connector is passed on to the engine', async () => {
  const { ok, text } = await use(onDevice('trusted'), 'locate');
  expect({ ok, text }).toEqual({ ok: false, text: 'no such route' });
});

test.each([
  ['a name that no tool may have', [{ ...tools[0], name: 'a b' }]],
  ['one name twice', [tools[0], tools[0]]],
  ['no policy', [{ name: 'a', description: 'b' }]],
  ['a policy there is none', [{ ...tools[0], policy: 'none' }]],
  ['too many', Array.from({ length: 33 }, (_, n) => ({ ...tools[0], name: `t${n}` }))],
  ['a schema that is too long', [{ ...tools[0], input: { description: 'x'.repeat(70_000) } }]],
  ['a schema that is too deep', [{ ...tools[0], input: JSON.parse(`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`) as object }]],
])('a message with %s is rejected', async (_what, device_tools) => {
  const answer = await bench.core.handle(onDevice('trusted', { device_tools: device_tools as DeviceTool[] }));
  expect(answer.statusCode).toBe(400);
});

test('a turn may call its device a hundred times at most', async () => {
  bench.manager.answers.set('/instances/m1/call', { ok: true, result: 1 });
  const last = await inTurn(onDevice('trusted'), async (request) => {
    const headers = { authorization: neededDevice(request).headers['Authorization'] ?? '' };
    const url = `http://127.0.0.1:${bench.core.context.settings.corePort}/v2/device-tools`;
    let status = 0;
    for (let n = 0; n < 101; n++) ({ status } = await requestJson(url, { headers, body: { tool: 'locate' }, timeoutMs: 40_000 }));
    return status;
  });
  expect(last).toBe(429);
  expect(calls()).toHaveLength(100);
});

test('a tool with a "call" field is called by the method it names', async () => {
  bench.manager.answers.set('/instances/m1/call', { ok: true, result: 7 });
  const device_tools: DeviceTool[] = [{ name: 'torch', description: 'The light.', policy: 'full', call: 'act' }];
  const { result } = await use(from('trusted', { device_tools }), 'torch', { on: true });
  expect(result).toBe(7);
  expect(calls()[0]?.body).toEqual({ target: 'chat-trusted', method: 'act', params: { tool: 'torch', params: { on: true } } });
});

test.each([
  ['yes', { ok: true, calls: 1 }],
  ['no', { ok: false, calls: 0, text: 'The person refused unlock.' }],
])('a tool that asks first runs after a yes only: %s', async (option, expected) => {
  bench.manager.answers.set('/instances/m1/call', { ok: true, result: null });
  const device_tools: DeviceTool[] = [{ name: 'unlock', description: 'Opens the door.', policy: 'full', asks: true }];
  const message = from('trusted', { device_tools });
  const asked: string[] = [];
  const sink = (frame: TurnProgress) => {
    if (frame.type !== 'ask') return;
    asked.push(frame.ask.text);
    const payload = { as: { channel: 'messenger', sender: message.sender }, conversation_key: message.conversation_key, option };
    void bench.core.app.inject({ method: 'POST', url: `/v2/asks/${frame.ask.id}/answer`, payload });
  };
  const done = Promise.withResolvers<{ ok: boolean; text: string }>();
  bench.core.engine.script(async function* (request) {
    done.resolve(await callTool(neededDevice(request), 'unlock', { door: 'front' }));
    yield* says('done');
  });
  await bench.core.context.pipeline.handle(message, { sink, isGone: () => false, showsAsks: true }, 'req_test');
  const { ok, text } = await done.promise;
  expect({ ok, calls: calls().length, ...(!ok && { text }) }).toEqual(expected);
  expect(asked).toEqual(['May I use "unlock" on your device?\n{"door":"front"}']);
});

test('the question shows the whole input, so that nobody agrees to a part of it unawares', async () => {
  const device_tools: DeviceTool[] = [{ name: 'unlock', description: 'Opens the door.', policy: 'full', asks: true }];
  const message = from('trusted', { device_tools });
  const asked = Promise.withResolvers<string>();
  const sink = (frame: TurnProgress) => void (frame.type === 'ask' && asked.resolve(frame.ask.text));
  const input = { door: 'front', why: 'fresh air '.repeat(60), also: 'safe' };
  bench.core.engine.script(async function* (request) {
    void callTool(neededDevice(request), 'unlock', input).catch(() => undefined);
    await asked.promise;
    yield* says('done');
  });
  await bench.core.context.pipeline.handle(message, { sink, isGone: () => false, showsAsks: true }, 'req_test');
  expect(await asked.promise).toContain(JSON.stringify(input));
});

test('a question is withdrawn when its caller disconnects: a late yes is rejected, and the next call asks again', async () => {
  bench.manager.answers.set('/instances/m1/call', { ok: true, result: null });
  const device_tools: DeviceTool[] = [{ name: 'unlock', description: 'Opens the door.', policy: 'full', asks: true }];
  const message = from('trusted', { device_tools });
  const answer = (id: string) => {
    const payload = { as: { channel: 'messenger', sender: message.sender }, conversation_key: message.conversation_key };
    return bench.core.app.inject({ method: 'POST', url: `/v2/asks/${id}/answer`, payload: { ...payload, option: 'yes' } });
  };
  const first = Promise.withResolvers<string>();
  const withdrawn = Promise.withResolvers<unknown>();
  const sink = (frame: TurnProgress) => {
    if (frame.type === 'asked') withdrawn.resolve(frame.answer);
    if (frame.type !== 'ask') return;
    first.resolve(frame.ask.id);
    void first.promise.then((id) => (id === frame.ask.id ? null : answer(frame.ask.id)));
  };
  const done = Promise.withResolvers<{ late: number; ok: boolean }>();
  bench.core.engine.script(async function* (request) {
    const headers = { authorization: neededDevice(request).headers['Authorization'] ?? '' };
    const url = `http://127.0.0.1:${bench.core.context.settings.corePort}/v2/device-tools`;
    const gone = new AbortController();
    const call = requestJson(url, { headers, body: { tool: 'unlock' }, timeoutMs: 40_000, signal: gone.signal });
    call.catch(() => undefined);
    const id = await first.promise;
    gone.abort();
    const outcome = await withdrawn.promise;
    expect(outcome).toEqual({ option: null, outcome: 'ended' });
    const late = (await answer(id)).statusCode;
    const { ok } = await callTool(neededDevice(request), 'unlock');
    done.resolve({ late, ok });
    yield* says('done');
  });
  await bench.core.context.pipeline.handle(message, { sink, isGone: () => false, showsAsks: true }, 'req_test');
  expect(await done.promise).toEqual({ late: 409, ok: true });
  expect(calls()).toHaveLength(1);
});

test('the timeout of a device tool covers the time for a question and for the call', async () => {
  const { askTimeoutMs } = bench.core.context.settings;
  const { callTimeoutMs } = await inTurn(onDevice('trusted'), async (request) => neededDevice(request));
  expect(callTimeoutMs).toBeGreaterThan(askTimeoutMs + 60_000);
});

test('a tool that asks first does not run when the channel cannot ask', async () => {
  const device_tools: DeviceTool[] = [{ name: 'unlock', description: 'Opens the door.', policy: 'full', asks: true }];
  const { ok, text } = await use(from('trusted', { device_tools }), 'unlock');
  expect([ok, text, calls().length]).toEqual([false, 'Nobody allowed unlock.', 0]);
});
