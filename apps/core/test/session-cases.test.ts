import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { answering, says, workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'compat:c1:key';
let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
});
afterEach(() => core.close());

const post = (url: string, payload: object) => core.app.inject({ method: 'POST', url, payload });
const session = async () =>
  (await core.app.inject(`/v2/session/${encodeURIComponent(key)}`)).json<{ state: string; engine_session_id: string }>();
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('forgetting a conversation, interrupted', () => {
  const url = `/v2/session/${encodeURIComponent(key)}`;
  type Part = Record<string, (...given: never[]) => Promise<unknown>>;
  const steps = (context: TestCore['context']): Record<string, [part: Part, name: string]> => ({
    'what was said': [context.sessions as never, 'forgetSaid'],
    files: [context.conversationFiles as never, 'forget'],
    workspaces: [context.workspaces as never, 'forget'],
    checkouts: [context.checkouts as never, 'forget'],
    session: [context.sessions as never, 'delete'],
  });
  const names = ['what was said', 'files', 'workspaces', 'checkouts', 'session'];
  /** Kills the core right before the step. */
  const killBefore = async (name: string, forget: () => Promise<unknown>) => {
    const [part, method] = steps(core.context)[name]!;
    const begun = new Promise<void>((resolve) => {
      part[method] = () => new Promise(() => resolve());
    });
    forget().catch(() => undefined);
    await begun;
    core = await openTestCore({ dataDir: core.crash() });
  };
  const seen = async () => {
    const list = (await core.app.inject('/v2/sessions')).body;
    const history = (await core.app.inject(`${url}/history`)).body;
    return { list, history };
  };

  test.each(names)('before %s is completed by a repeated request, and hides the conversation meanwhile', async (name) => {
    await core.handle(envelope('a secret'));
    await core.app.inject({ method: 'PATCH', url, payload: { title: 'Of a secret' } });
    await killBefore(name, async () => core.app.inject({ method: 'DELETE', url }));
    if (name !== names[0]) expect(JSON.stringify(await seen())).not.toContain('a secret');
    const forget = async () => (await core.app.inject({ method: 'DELETE', url })).statusCode;
    expect([await forget(), await forget()]).toEqual([200, 404]);
    expect(core.context.db.raw.prepare('SELECT seq FROM turn').all()).toEqual([]);
  });

  test.each(['files', 'session'])('before %s by /new is completed by the repeated command', async (name) => {
    await core.handle(envelope('a secret'));
    await killBefore(name, async () => core.handle(envelope('/new', { message_id: 'm1' })));
    expect((await core.handle(envelope('/new', { message_id: 'm1' }))).json()).toMatchObject({ outcome: 'command' });
    expect((await core.app.inject(url)).statusCode).toBe(404);
    expect(JSON.stringify(await seen())).not.toContain('a secret');
  });
});

describe('turns of one conversation', () => {
  test('[L01] a hundred at once run one at a time, in order', async () => {
    const seen: string[] = [];
    core.engine.script(async function* ({ text }) {
      seen.push(`${text} begins`);
      try {
        await settle();
        yield* says(text);
      } finally {
        seen.push(`${text} ends`);
      }
    });
    const texts = Array.from({ length: 100 }, (_, n) => `m${n}`);
    const answers = await Promise.all(texts.map((text) => core.handle(envelope(text))));
    expect(answers.map((answer) => answer.json().actions[0].text)).toEqual(texts);
    expect(seen).toEqual(texts.flatMap((text) => [`${text} begins`, `${text} ends`]));
  });

  test('of different conversations run in parallel up to the limit', async () => {
    const small = await openTestCore({ env: { SVC_MAX_CONCURRENT_TURNS: '2' } });
    small.engine.script(workingUntilAborted());
    const turns = ['a', 'a', 'b', 'c'].map((name) => small.handle(envelope('work', { conversation_key: `compat:c1:${name}` })));
    await expect.poll(() => small.engine.requests.length).toBe(2);
    const running = small.engine.requests.map(({ conversationKey }) => conversationKey);
    expect(running).toEqual(['compat:c1:a', 'compat:c1:b']);
    expect((await small.app.inject('/health')).json()).toMatchObject({ active: 2, waiting: 2 });
    small.engine.script(answering('fine'));
    for (const name of running) small.context.pipeline.abort(name);
    await Promise.all(turns);
    await small.close();
  });
});

describe('POST /v2/abort', () => {
  const abort = (conversation_key: string) => post('/v2/abort', { conversation_key });

  test('[L02] answers 404 for a conversation with nothing in flight and for an unknown session', async () => {
    await core.handle(envelope('hi'));
    expect((await abort(key)).statusCode).toBe(404);
    expect((await abort('nobody')).statusCode).toBe(404);
    expect((await core.app.inject('/v2/session/nobody')).statusCode).toBe(404);
  });

  test('[L04] called twice at once, answers one call with 200 and the other with 404', async () => {
    core.engine.script(workingUntilAborted('so far'));
    const turn = core.handle(envelope('work'));
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    const codes = (await Promise.all([abort(key), abort(key)])).map(({ statusCode }) => statusCode);
    expect(codes.toSorted((a, b) => a - b)).toEqual([200, 404]);
    expect((await turn).json()).toMatchObject({ actions: [], outcome: 'aborted' });
  });

  test('ends a waiting turn before an engine is called', async () => {
    const small = await openTestCore({ env: { SVC_MAX_CONCURRENT_TURNS: '1' } });
    small.engine.script(workingUntilAborted());
    const running = small.handle(envelope('work', { conversation_key: 'compat:c1:other' }));
    await expect.poll(() => small.context.pipeline.counts().running).toBe(1);
    const waiting = small.handle(envelope('wait', { message_id: 'm1' }));
    await expect.poll(() => small.context.pipeline.counts().waiting).toBe(1);
    expect(small.context.pipeline.abort(key)).toBe(true);
    expect((await waiting).json()).toMatchObject({ actions: [], outcome: 'aborted' });
    small.context.pipeline.abort('compat:c1:other');
    await running;
    expect(small.engine.requests).toHaveLength(1);
    await small.close();
  });

  test('[L03] at any instant ends the turn silently, keeps the engine session and frees the conversation', async () => {
    const instants = fc.record({
      jobs: fc.nat({ max: 30 }),
      ticks: fc.nat({ max: 2 }),
      lateMs: fc.nat({ max: 10_000 }),
      says: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(instants, async ({ jobs, ticks, lateMs, says: speaks }) => {
        const clock = createFakeClock();
        const own = await openTestCore({ clock });
        const caller = { sink: null, isGone: () => false };
        await own.context.pipeline.handle(envelope('hi'), caller, 'r1');
        own.engine.script(async function* (request, signal) {
          yield { type: 'session', engineSessionId: request.resume ?? 'another', resumed: true, model: null };
          if (request.text !== 'work') return yield* says('next');
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
          await new Promise<void>((resolve) => void clock.after(lateMs, resolve));
          if (speaks) yield* says('too late');
          yield { type: 'aborted' };
        });
        const turn = own.context.pipeline.handle(envelope('work'), caller, 'r2');
        for (let job = 0; job < jobs; job++) await Promise.resolve();
        for (let tick = 0; tick < ticks; tick++) await settle();
        // At first there may be nothing in flight yet.
        while (!own.context.pipeline.abort(key)) await Promise.resolve();
        expect(await passUntil(clock, turn)).toMatchObject({ actions: [], outcome: 'aborted' });
        expect(await passUntil(clock, own.context.pipeline.handle(envelope('hi'), caller, 'r3'))).toMatchObject({
          outcome: 'replied',
        });
        clock.advance(20_000);
        await settle();
        expect(own.context.pipeline.counts()).toEqual({ running: 0, waiting: 0 });
        const row = await own.context.sessions.read(key);
        expect(row?.engine_session_id).toBe(`s-${key}`);
        own.drop();
      }),
      { numRuns: 40 },
    );
  });

  async function passUntil(clock: FakeClock, turn: Promise<HandleResult>): Promise<HandleResult> {
    let isOver = false;
    const ended = turn.finally(() => (isOver = true));
    ended.catch(() => undefined);
    for (let round = 0; round < 200 && !isOver; round++) {
      await settle();
      await settle();
      clock.advance(500);
    }
    return ended;
  }

  test('keeps the engine session for later messages, including those of an operator', async () => {
    core.engine.script(workingUntilAborted());
    const turn = core.handle(envelope('work'));
    await expect.poll(async () => (await session()).engine_session_id).toBe('s-1');
    await abort(key);
    await turn;
    core.engine.script(answering('here'));
    expect((await core.handle(envelope('still there?'))).json()).toMatchObject({ actions: [{ text: 'here' }] });
    expect((await post('/v2/inject', { conversation_key: key, text: 'go on' })).json()).toMatchObject({ reply: 'here' });
    expect(core.engine.requests.map(({ resume }) => resume)).toEqual([null, 's-1', 's-1']);
  });
});

describe('POST /v2/claim and /v2/release', () => {
  const claim = (by = 'terminal') => post('/v2/claim', { conversation_key: key, by });
  const release = () => post('/v2/release', { conversation_key: key });

  test('[L09] refuse a session without an engine session, and answer 404 for an unknown one', async () => {
    expect((await claim()).statusCode).toBe(404);
    expect((await release()).statusCode).toBe(404);
    core.engine.script(answering('no session of its own'));
    await core.handle(envelope('hi'));
    expect((await claim()).statusCode).toBe(409);
  });

  test('[L09] pause the channel, whose messages are observed until the release', async () => {
    await core.handle(envelope('hi'));
    expect((await claim()).json()).toMatchObject({
      ok: true,
      claimed_by: 'terminal',
      engine_session_id: `s-${key}`,
      engine_id: 'scripted',
    });
    expect(await session()).toMatchObject({ state: 'claimed', claimed_by: 'terminal' });
    expect((await core.handle(envelope('the door is open'))).json()).toMatchObject({ actions: [], outcome: 'observed' });
    expect(core.engine.requests).toHaveLength(1);
    expect((await release()).json()).toEqual({ ok: true, released: key });
    expect(await session()).toMatchObject({ state: 'idle', claimed_by: null });
    await core.handle(envelope('what did I say?'));
    expect(core.engine.requests[1]?.prompt).toContain('the door is open');
  });

  test('[L09] refuse a claim while a turn is in flight, or while another person has one', async () => {
    await core.handle(envelope('hi'));
    core.engine.script(workingUntilAborted());
    const turn = core.handle(envelope('work'));
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    expect((await claim()).statusCode).toBe(409);
    await post('/v2/abort', { conversation_key: key });
    await turn;
    expect((await claim('anna')).statusCode).toBe(200);
    expect((await claim('anna')).statusCode).toBe(200);
    expect((await claim('bert')).statusCode).toBe(409);
  });

  test('keep /new from resetting a claimed session', async () => {
    await core.handle(envelope('hi'));
    await claim();
    expect((await core.handle(envelope('/new'))).json()).toMatchObject({
      outcome: 'command',
      actions: [{ text: expect.stringContaining('terminal') }],
    });
    expect((await release()).statusCode).toBe(200);
    expect((await core.handle(envelope('still there?'))).json()).toMatchObject({ outcome: 'replied' });
    expect(core.engine.requests[1]?.resume).toBe(`s-${key}`);
  });

  test('keep a claim across a crash, and apply concurrent requests in order', async () => {
    await core.handle(envelope('hi'));
    await claim();
    await Promise.all([release(), claim('anna')]);
    const stored = (await session()) as unknown as { claimed_by: string | null };
    expect(core.context.claims.isClaimed(key)).toBe(stored.claimed_by !== null);
    await release();
    await claim('anna');
    const next = await openTestCore({ dataDir: core.crash() });
    expect(next.context.claims.isClaimed(key)).toBe(true);
    core = next;
  });
});

describe('GET /v2/sessions', () => {
  test('lists sessions active before the clock was set back', async () => {
    const clock = createFakeClock();
    const own = await openTestCore({ clock });
    await own.context.pipeline.handle(envelope('hi'), { sink: null, isGone: () => false }, 'r1');
    clock.advance(-3_600_000);
    expect((await own.app.inject('/v2/sessions')).json()).toMatchObject({ sessions: [{ conversation_key: key }] });
    own.drop();
  });

  type Page = { sessions: { conversation_key: string; last_active_at: number }[]; next: string | null };
  const pages = async (limit: number) => {
    const rows: Page['sessions'] = [];
    for (let before = ''; ;) {
      const page = (await core.app.inject(`/v2/sessions?limit=${limit}${before}`)).json<Page>();
      expect(page.sessions.length).toBeLessThanOrEqual(limit);
      rows.push(...page.sessions);
      if (page.next === null) return rows;
      before = `&before=${page.next}`;
    }
  };
  const store = (conversationKey: string, at: number) =>
    core.context.db.run(
      "INSERT INTO session (conversation_key, surface, created_at, last_active_at) VALUES (?, 'compat', 1, ?)",
      conversationKey,
      at,
    );

  test('pages through all sessions, each once, even with equal timestamps', async () => {
    const keys = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.nat(2)), {
      selector: ([name]) => name,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(keys, fc.integer({ min: 1, max: 4 }), async (sessions, limit) => {
        await core.context.db.run('DELETE FROM session');
        for (const [name, at] of sessions) await store(name, at);
        const rows = await pages(limit);
        expect(rows.map(({ conversation_key }) => conversation_key).toSorted()).toEqual(
          sessions.map(([name]) => name).toSorted(),
        );
        const times = rows.map(({ last_active_at }) => last_active_at);
        expect(times).toEqual(times.toSorted((a, b) => b - a));
      }),
      { numRuns: 40 },
    );
  });

  test('accepts a time or a page cursor in "before", and rejects anything else', async () => {
    for (const [name, at] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ] as const)
      await store(name, at);
    const before = async (place: string) => {
      const response = await core.app.inject(`/v2/sessions?before=${place}`);
      return response.statusCode === 200
        ? response.json<Page>().sessions.map(({ conversation_key }) => conversation_key)
        : response.statusCode;
    };
    expect(await before('3')).toEqual(['b', 'a']);
    expect(await before('0')).toEqual([]);
    for (const place of ['', 'x', '-1', '1.', '.YQ', '1.a%20b', '12345678901234567']) expect(await before(place)).toBe(400);
  });
});

test('a message that arrives while its session is being deleted begins a new one, which lasts', async () => {
  const own = 'compat:c1:deleted';
  await core.handle(envelope('one', { conversation_key: own }));
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const files = vi.spyOn(core.context.conversationFiles, 'forget').mockImplementation(async () => {
    reached.resolve();
    await gate.promise;
  });
  const deleted = core.app.inject({ method: 'DELETE', url: `/v2/session/${own}` });
  await reached.promise;
  const asked = core.engine.requests.length;
  const said = core.handle(envelope('two', { conversation_key: own }));
  await expect.poll(() => core.engine.requests.length > asked || core.context.pipeline.counts().waiting > 0).toBe(true);
  gate.resolve();
  expect((await deleted).statusCode).toBe(200);
  files.mockRestore();
  expect((await said).json()).toMatchObject({ outcome: 'replied' });
  await core.handle(envelope('three', { conversation_key: own }));
  expect((await core.app.inject(`/v2/session/${own}`)).json()).toMatchObject({ turns: 2 });
  expect(core.engine.requests.at(-1)?.resume).toBe(`s-${own}`);
});

describe('conversation keys', () => {
  test('[L10] of any characters work in every route', async () => {
    const parts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((part) => part.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.oneof(parts, fc.constantFrom('a:b', 'a/b', '%2e%2e', '..', 'a?b#c', '😀', ' ')), async (part) => {
        const own = `compat:c1:${part}`;
        await core.handle(envelope('hi', { conversation_key: own }));
        const url = `/v2/session/${encodeURIComponent(own)}`;
        expect((await core.app.inject(url)).json()).toMatchObject({ conversation_key: own });
        expect((await core.app.inject(`${url}/history`)).json().messages).not.toEqual([]);
        expect((await post('/v2/claim', { conversation_key: own })).json()).toMatchObject({ conversation_key: own });
        expect((await post('/v2/release', { conversation_key: own })).json()).toMatchObject({ released: own });
        expect((await post('/v2/inject', { conversation_key: own, text: 'x' })).json()).toMatchObject({ reply: 'x' });
        expect((await core.app.inject({ method: 'DELETE', url })).statusCode).toBe(200);
      }),
      { numRuns: 60 },
    );
  });
});

describe('POST /v2/title', () => {
  test('[L11] answers 429 while a title is being made, and works again afterwards, even after a failure', async () => {
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    core.engine.script(async function* () {
      await held;
      yield { type: 'failed', failure: { code: 'engine_overloaded', message: 'Busy.', retryable: true } };
    });
    const first = post('/v2/title', { text: 'how do I bake bread?' });
    await expect.poll(() => core.engine.requests.length).toBe(1);
    const second = await post('/v2/title', { text: 'and cake?' });
    expect([second.statusCode, second.headers['retry-after']]).toEqual([429, '1']);
    release();
    expect((await first).statusCode).toBe(503);
    core.engine.script(answering('"Baking bread."\n'));
    expect((await post('/v2/title', { text: 'how do I bake bread?' })).json()).toEqual({ ok: true, title: 'Baking bread' });
    expect(core.engine.requests.every(({ toolPolicy, toolServers }) => toolPolicy === 'none' && toolServers.length === 0)).toBe(
      true,
    );
  });

  test('truncates a long title between characters, never within one', async () => {
    core.engine.script(answering(`${'x'.repeat(79)}😀`));
    expect((await post('/v2/title', { text: 'how do I bake bread?' })).json()).toEqual({ ok: true, title: 'x'.repeat(79) });
  });
});
