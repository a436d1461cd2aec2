import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { ToolPolicy, Tier } from '@svc/contract/trust.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { createTrustStore } from '../src/trust/trust-store.ts';
import type { ChannelMessage } from '../src/delivery/channel-sender.ts';
import { callTool, toolbeltOf, type Called } from './call-tool.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const operatorToken = 'operator-token-0123456789';
const planted = 'sk-planted-secret-4711';

/** Stands for another process of ours: answers by path, and notes what came. */
async function startStandIn() {
  const requests: { url: string; authorization: string | undefined; body: unknown }[] = [];
  const answers = new Map<string, unknown>();
  const server = http.createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const { url = '', headers } = request;
      requests.push({ url, authorization: headers.authorization, body: text === '' ? null : JSON.parse(text) });
      const answer = answers.get(url.split('?')[0] ?? '');
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { ok: false, error: 'not_found', message: 'no such route' }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    answers,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
type StandIn = Awaited<ReturnType<typeof startStandIn>>;

let core: TestCore;
let collector: StandIn;
let manager: StandIn;
let sent: ChannelMessage[];
let coreUrl: string;

beforeAll(async () => {
  [collector, manager] = await Promise.all([startStandIn(), startStandIn()]);
  const [corePort] = await freePorts(1);
  sent = [];
  core = await openTestCore({
    toolbelt: true,
    env: {
      SVC_CORE_PORT: String(corePort),
      SVC_COLLECTOR_PORT: String(collector.port),
      SVC_MANAGER_PORT: String(manager.port),
      SVC_INSIGHTS_TOKEN: 'insights-token-of-the-test',
      SVC_MANAGER_TOKEN: 'manager-token-of-the-test',
      SVC_TOOLBELT_TOKEN: operatorToken,
      PLANTED_KEY: planted,
      PATH: process.env['PATH'] ?? '',
    },
    sendToChannel: (message) => {
      sent.push(message);
      return Promise.resolve({ delivered: true });
    },
  });
  coreUrl = await core.app.listen({ host: '127.0.0.1', port: corePort });
  await addPerson('trusted', 'TRUSTED', 'full');
  await addPerson('reader', 'KNOWN', 'read');
  await addPerson('worker', 'KNOWN', 'full');
  await addPerson('visitor', 'GUEST', 'full');
});
afterAll(async () => {
  await core.close();
  await Promise.all([collector.close(), manager.close()]);
});
beforeEach(() => {
  sent.length = 0;
  for (const standIn of [collector, manager]) {
    standIn.requests.length = 0;
    standIn.answers.clear();
  }
  collector.answers.set('/api/sessions', { sessions: [] });
});
afterEach(() =>
  core.engine.script(async function* () {
    yield* says('ok');
  }),
);

async function addPerson(key: string, tier: Tier, tool_policy: ToolPolicy): Promise<void> {
  const { db, clock } = core.context;
  const role = { name: `role-${key}`, tier, tool_policy, surfaces: '*' as const, description: '' };
  await createTrustStore(db, clock, randomIds).addRole(role);
  await core.addPrincipal(key, role.name, 'messenger');
}

/** Where a turn comes from: the messenger, with a place that can be pushed to. */
const from = (who: string, over: Partial<Envelope> = {}): Envelope =>
  envelope('go', {
    channel: 'messenger',
    conversation_key: `messenger:m1:user:${who}`,
    sender: { raw_id: who, raw_username: who },
    channel_context: { chatId: `chat-${who}` },
    ...over,
  });
const fromOwner = (over: Partial<Envelope> = {}) => envelope('go', over);

/** Runs a turn whose engine does something with its tools, and gives what that came to. */
async function inTurn<T>(message: Envelope, use: (request: EngineRequest) => Promise<T>): Promise<T> {
  const done = Promise.withResolvers<T>();
  done.promise.catch(() => undefined);
  const script: EngineScript = async function* (request) {
    try {
      done.resolve(await use(request));
    } catch (error) {
      done.reject(error instanceof Error ? error : new Error(String(error)));
    }
    yield* says('done');
  };
  core.engine.script(script);
  expect((await core.handle(message)).json()).toMatchObject({ outcome: 'replied' });
  return done.promise;
}

const call = (message: Envelope, name: string, input: object = {}): Promise<Called> =>
  inTurn(message, (request) => callTool(toolbeltOf(request), name, input));
const hasToolbelt = (message: Envelope): Promise<boolean> =>
  inTurn(message, ({ toolServers }) => Promise.resolve(toolServers.some(({ name }) => name === 'svc-toolbelt')));
const keysOf = ({ result }: Called) => (result['sessions'] as { conversation_key: string }[]).map((row) => row.conversation_key);

const direct = (token: string | null, tool = 'svc_sessions', body: unknown = {}) =>
  requestJson<{ error?: string; message?: string }>(`${coreUrl}/v2/toolbelt/${tool}`, {
    token: token === null ? null : new Secret(token),
    body,
    timeoutMs: 5000,
  });
const tokenOf = (request: EngineRequest): string => (toolbeltOf(request).headers['Authorization'] ?? '').replace('Bearer ', '');

describe('the token of a turn', () => {
  test('is worth nothing once the turn is over', async () => {
    const token = await inTurn(fromOwner(), async (request) => {
      const held = tokenOf(request);
      expect((await direct(held)).status).toBe(200);
      return held;
    });
    expect(await direct(token)).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
  });

  test('stays the same for a conversation, and never gives one person the rights of another', async () => {
    const group = (who: string) => from(who, { conversation_key: 'messenger:m1:chat:all' });
    const first = await inTurn(group('trusted'), async (request) => {
      expect((await callTool(toolbeltOf(request), 'svc_announce', { text: 'x' })).ok).toBe(true);
      return tokenOf(request);
    });
    await inTurn(group('reader'), async (request) => {
      expect(tokenOf(request)).toBe(first);
      expect(await callTool(toolbeltOf(request), 'svc_announce', { text: 'x' })).toMatchObject({ ok: false });
    });
    await inTurn(group('visitor'), async ({ toolServers }) => {
      expect(toolServers).toEqual([]);
      expect((await direct(first)).status).toBe(401);
    });
  });

  test('is masked when a model says it', async () => {
    core.engine.script(async function* (request) {
      yield* says(`my token is ${tokenOf(request)}`);
    });
    const answer = (await core.handle(fromOwner())).json<{ actions: { text: string }[] }>();
    expect(answer.actions[0]?.text).toMatch(/^my token is \[redacted:secret\]/);
  });

  test.each([[null], ['wrong'], ['']])('%j is none, whatever the body', async (token) => {
    expect((await direct(token, 'svc_who', { wrong: 1 })).status).toBe(401);
  });
});

describe('who has which tools', () => {
  test.each([
    ['reader', true],
    ['worker', true],
    ['trusted', true],
    ['visitor', false],
  ])('%s is offered the toolbelt: %s', async (who, offered) => {
    expect(await hasToolbelt(from(who))).toBe(offered);
  });

  test('who may only read has the tools that only read; the others are refused, and that is told', async () => {
    expect((await call(from('reader'), 'svc_sessions')).ok).toBe(true);
    expect((await call(from('reader'), 'svc_uploads')).ok).toBe(true);
    for (const tool of ['svc_send', 'svc_announce']) {
      expect(await call(from('reader'), tool, { text: 'x' })).toMatchObject({
        ok: false,
        text: expect.stringContaining('not allowed') as string,
      });
    }
    const refusals = core.telemetry.events.filter(({ kind, payload }) => kind === 'trust' && payload['what'] === 'tool_refused');
    expect(refusals.slice(-2)).toMatchObject([
      { session: 'messenger:m1:user:reader', principal: 'reader', payload: { tool: 'svc_send' } },
      { payload: { tool: 'svc_announce' } },
    ]);
  });

  test('an input that is not valid is refused with the field', async () => {
    expect(await call(fromOwner(), 'svc_who', {})).toMatchObject({
      ok: false,
      text: expect.stringContaining('path is missing') as string,
    });
    expect((await call(fromOwner(), 'svc_sessions', { wild: true })).ok).toBe(false);
  });

  test('the operator’s own client has all, by its own token', async () => {
    expect((await direct(operatorToken)).status).toBe(200);
    expect((await direct(operatorToken, 'svc_announce', { text: 'from outside' })).status).toBe(200);
    expect(await direct(operatorToken, 'svc_who', { path: 'relative' })).toMatchObject({ status: 400 });
  });
});

describe('svc_sessions', () => {
  test('lists the active sessions of all channels to who is trusted, and their own to others', async () => {
    await core.handle(fromOwner());
    await core.handle(from('worker'));
    collector.answers.set('/api/sessions', {
      sessions: [
        { conversation_key: 'terminal:1', surface: 'terminal', principal: 'owner', state: 'running', last_event_at: Date.now() },
        {
          conversation_key: 'messenger:m1:user:worker',
          surface: 'messenger',
          principal: 'worker',
          state: 'idle',
          last_event_at: 1,
        },
        { conversation_key: 'terminal:2', surface: 'terminal', principal: 'worker', state: 'idle', last_event_at: Date.now() },
      ],
    });
    const all = await call(fromOwner(), 'svc_sessions');
    expect(keysOf(all)).toEqual(
      expect.arrayContaining(['compat:c1:key', 'messenger:m1:user:worker', 'terminal:1', 'terminal:2']),
    );
    const rows = all.result['sessions'] as object[];
    expect(rows).toContainEqual(
      expect.objectContaining({ conversation_key: 'compat:c1:key', state: 'running', this_conversation: true }),
    );
    expect(rows).toContainEqual(expect.objectContaining({ conversation_key: 'messenger:m1:user:worker', principal: 'worker' }));
    expect(keysOf(await call(from('worker'), 'svc_sessions')).toSorted()).toEqual(['messenger:m1:user:worker', 'terminal:2']);
    const inPublic = await call(from('trusted', { public: true }), 'svc_sessions');
    expect(keysOf(inPublic)).toEqual(['messenger:m1:user:trusted']);
    expect(collector.requests[0]?.authorization).toBe('Bearer insights-token-of-the-test');
  });

  test('still lists the service’s own while the collector is away', async () => {
    collector.answers.clear();
    const answer = await call(fromOwner(), 'svc_sessions');
    expect(keysOf(answer)).toContain('compat:c1:key');
    expect(answer.result['note']).toMatch(/Only sessions of this service are listed/);
  });
});

describe('svc_map and svc_who', () => {
  const at = (conversation_key: string, principal: string | null) => ({
    conversation_key,
    surface: 'messenger',
    identity: null,
    principal,
    active: true,
    last_at: 1_700_000_000_000,
  });

  test('the map shows places with their sessions, each person those that are theirs', async () => {
    const places = [
      { place: '/r', kind: 'repo', shared: true, sessions: [at('a', 'worker'), at('b', 'owner')] },
      { place: '/s', kind: 'repo', shared: false, sessions: [at('b', 'owner')] },
    ];
    collector.answers.set('/api/map', { since: 0, places, truncated: false });
    expect((await call(fromOwner(), 'svc_map', { since: 5.5 })).result['places']).toMatchObject([
      { place: '/r', shared: true, sessions: [{ conversation_key: 'a', last_at: '2023-11-14T22:13:20.000Z' }, {}] },
      { place: '/s', shared: false },
    ]);
    expect(collector.requests.at(-1)?.url).toBe('/api/map?since=5');
    expect((await call(from('worker'), 'svc_map')).result['places']).toMatchObject([
      { place: '/r', shared: false, sessions: [{ conversation_key: 'a' }] },
    ]);
  });

  test('a relative path is one of the folder the engine works in', async () => {
    const who = {
      since: 0,
      truncated: true,
      sessions: [{ ...at('a', 'owner'), touches: 2, paths: [{ path: '/x', tool: 'Edit', last_at: 0 }] }],
    };
    collector.answers.set('/api/who', { path: '/x', ...who });
    const answer = await call(fromOwner(), 'svc_who', { path: 'src/a b.ts' });
    expect(collector.requests.at(-1)?.url).toBe(
      `/api/who?${new URLSearchParams({ path: path.join(core.folder, 'workspace/src/a b.ts') }).toString()}`,
    );
    expect(answer.result).toMatchObject({
      sessions: [{ conversation_key: 'a', touches: 2 }],
      note: expect.stringContaining('missing') as string,
    });
  });

  test('a collector that is away is said to be', async () => {
    await collector.close();
    try {
      for (const [tool, input] of [
        ['svc_map', {}],
        ['svc_who', { path: '/r' }],
      ] as const) {
        expect(await call(fromOwner(), tool, input)).toMatchObject({
          ok: false,
          text: expect.stringContaining('is away') as string,
        });
      }
    } finally {
      collector = await startStandIn();
    }
  });
});

describe('svc_send', () => {
  test('a text goes to the place that was named, masked, over the outbox', async () => {
    const input = { instance_id: 'm2', target: 'room', text: `the key is ${planted}` };
    const answer = await call(fromOwner(), 'svc_send', input);
    expect(answer.result).toMatchObject({ delivered: true, instance_id: 'm2', target: 'room' });
    expect(sent).toMatchObject([{ instance_id: 'm2', target: 'room', text: 'the key is [redacted:secret]' }]);
    const list = (await core.app.inject('/v2/deliveries')).json<{ deliveries: { id: string; state: string }[] }>();
    expect(list.deliveries[0]).toMatchObject({ id: answer.result['delivery_id'], state: 'delivered' });
  });

  test('a channel is enough where one instance answers to it', async () => {
    const target = (instance_id: string, channel: string, enabled = true) => ({
      instance_id,
      channel,
      name: channel,
      enabled,
      outbound: {},
    });
    manager.answers.set('/send/targets', {
      targets: [target('d1', 'chatroom'), target('m1', 'messenger'), target('m2', 'messenger', false)],
    });
    expect((await call(fromOwner(), 'svc_send', { channel: 'messenger', target: 'x', text: 'hi' })).result).toMatchObject({
      instance_id: 'm1',
    });
    manager.answers.set('/send/targets', { targets: [target('m1', 'messenger'), target('m2', 'messenger')] });
    const unclear = await call(fromOwner(), 'svc_send', { channel: 'messenger', target: 'x', text: 'hi' });
    expect(unclear).toMatchObject({ ok: false, text: expect.stringMatching(/More than one.*m1.*m2/) as string });
    expect(manager.requests[0]?.authorization).toBe('Bearer manager-token-of-the-test');
  });

  test('without a place it goes to the conversation itself', async () => {
    expect((await call(from('worker'), 'svc_send', { text: 'hi' })).ok).toBe(true);
    expect(sent).toMatchObject([{ instance_id: 'm1', target: 'chat-worker', text: 'hi' }]);
    expect(await call(fromOwner(), 'svc_send', { text: 'hi' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('cannot be pushed to') as string,
    });
  });

  test.each([
    ['worker', {}, { target: 'chat-worker' }, true],
    ['worker', {}, { channel: 'messenger', target: 'chat-worker' }, true],
    ['worker', {}, { instance_id: 'm1', target: 'chat-worker' }, true],
    ['worker', {}, { instance_id: 'm1', target: 'chat-other' }, false],
    ['worker', {}, { instance_id: 'm2', target: 'chat-worker' }, false],
    ['worker', {}, { channel: 'chatroom', target: 'chat-worker' }, false],
    ['worker', {}, { instance_id: 'm1' }, false],
    ['trusted', {}, { instance_id: 'm1', target: 'chat-other' }, true],
    ['trusted', { public: true }, { instance_id: 'm1', target: 'chat-other' }, false],
    ['trusted', { public: true }, { target: 'chat-trusted' }, true],
  ])('%s %j may send to %j: %s', async (who, over, place, allowed) => {
    const answer = await call(from(who, over), 'svc_send', { text: 'hi', ...place });
    expect([answer.ok, sent.length]).toEqual([allowed, allowed ? 1 : 0]);
  });

  test('[P13] only a file of the upload area can be sent, by who is trusted, and none that holds a secret', async () => {
    const { uploads, root } = core.context.paths;
    mkdirSync(path.join(uploads, '.staging'), { recursive: true });
    const file = (name: string, text: string) => {
      writeFileSync(path.join(uploads, name), text);
      return path.join(uploads, name);
    };
    const [good, leak, list, hidden] = [
      file('a.txt', 'fine'),
      file('leak.txt', `x${planted}`),
      file('manifest.jsonl', ''),
      file('.staging/x', ''),
    ];
    const keys = path.join(root, 'keys.json');
    writeFileSync(keys, '{}');
    symlinkSync(keys, path.join(uploads, 'link'));
    manager.answers.set('/send', { ok: true, delivered: true, id: 'x', instance_id: 'm1' });
    const place = { instance_id: 'm1', target: 'x' };
    const wrong = [
      keys,
      leak,
      list,
      hidden,
      uploads,
      path.join(uploads, 'link'),
      path.join(uploads, '../keys.json'),
      'a.txt',
      '/etc/passwd',
    ];
    for (const name of wrong)
      expect([name, (await call(fromOwner(), 'svc_send', { ...place, path: name })).ok]).toEqual([name, false]);
    expect((await call(from('worker'), 'svc_send', { target: 'chat-worker', path: good })).ok).toBe(false);
    expect(manager.requests).toEqual([]);
    const answer = await call(fromOwner(), 'svc_send', { ...place, path: good, caption: `see ${planted}` });
    expect(answer.result).toMatchObject({ delivered: true });
    expect(manager.requests[0]).toMatchObject({ url: '/send', body: { ...place, path: good, caption: 'see [redacted:secret]' } });
  });

  test('a turn that sends on and on is stopped', async () => {
    const answers = await inTurn(fromOwner(), async (request) => {
      const tries = Array.from({ length: 31 }, () => direct(tokenOf(request), 'svc_announce', { text: 'again' }));
      return (await Promise.all(tries)).map(({ status }) => status);
    });
    expect(answers.filter((status) => status === 200)).toHaveLength(30);
    expect(answers).toContain(429);
  });
});

describe('svc_announce', () => {
  const posted = () => core.context.announcements.list().at(-1);

  test.each<[string, Partial<Envelope>, object, string | null]>([
    ['trusted', {}, {}, '*'],
    ['trusted', {}, { target: 'surface:compat' }, 'surface:compat'],
    ['trusted', { public: true }, {}, 'messenger:m1:user:trusted'],
    ['trusted', { public: true }, { target: '*' }, null],
    ['worker', {}, {}, 'messenger:m1:user:worker'],
    ['worker', {}, { target: 'messenger:m1:user:worker' }, 'messenger:m1:user:worker'],
    ['worker', {}, { target: '*' }, null],
    ['worker', {}, { target: 'identity:owner' }, null],
    ['trusted', {}, { target: 'surface:NO WAY' }, null],
  ])('%s %j with %j announces to %s', async (who, over, input, target) => {
    const before = core.context.announcements.newestId();
    const answer = await call(from(who, over), 'svc_announce', { text: 'build is red', ttl: 60, ...input });
    expect(answer.ok).toBe(target !== null);
    if (target === null) expect(core.context.announcements.newestId()).toBe(before);
    else expect(posted()).toMatchObject({ target, text: 'build is red', expires_at: expect.any(Number) as number });
  });

  test('other sessions get it, the posting one does not', async () => {
    await call(from('trusted'), 'svc_announce', { text: 'the branch is frozen' });
    expect(posted()?.from_session).toBe('messenger:m1:user:trusted');
  });
});

describe('svc_uploads', () => {
  test('lists the newest files, to others than the trusted those of their conversation', async () => {
    const { uploads } = core.context.paths;
    mkdirSync(uploads, { recursive: true });
    const line = (id: number, conversation_key: string | null) =>
      JSON.stringify({
        id: `upl_${id}`,
        path: `/u/${id}`,
        name: `${id}.png`,
        mime: 'image/png',
        kind: 'image',
        bytes: 1,
        sha256: '',
        conversation_key,
        created_at: id,
      });
    const lines = [line(1, null), line(2, 'messenger:m1:user:worker'), line(3, 'elsewhere')];
    writeFileSync(path.join(uploads, 'manifest.jsonl'), `${lines.join('\n')}\n{"torn`);
    const names = async (who: Envelope, input = {}) =>
      ((await call(who, 'svc_uploads', input)).result['files'] as { name: string }[]).map(({ name }) => name);
    expect(await names(fromOwner())).toEqual(['3.png', '2.png', '1.png']);
    expect(await names(fromOwner(), { limit: 1 })).toEqual(['3.png']);
    expect(await names(from('worker'))).toEqual(['2.png']);
  });
});
