import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '@svc/contract/trust.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';
import { from, trustCalls } from './open-trust-bench.ts';

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock });
});
afterEach(() => core.close());

const { ok, link, grant, addAnna } = trustCalls(() => core);
const outcome = async (...args: Parameters<typeof from>) => (await core.handle(from(...args))).json().outcome as string;

describe('changes of trust', () => {
  /** Begins a turn that runs until `end`, so that Anna's next one waits behind it. */
  async function waiting(): Promise<{ end: () => void; next: Promise<string> }> {
    const gate = Promise.withResolvers<void>();
    core.engine.script(async function* () {
      await gate.promise;
      yield* says('done');
    });
    const first = core.handle(from('42', 'first'));
    await expect.poll(() => core.engine.requests.length).toBe(1);
    const next = outcome('42', 'second');
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(1);
    return { end: () => (gate.resolve(), void first), next };
  }

  test.each([
    ['is deleted', () => ok('DELETE', '/trust/principals/anna')],
    ['is disabled', () => ok('PATCH', '/trust/principals/anna', { status: 'disabled' })],
    [
      'loses the identifier',
      async () => {
        const { identifiers } = await ok<Principal>('GET', '/trust/principals/anna');
        await ok('DELETE', `/trust/identifiers/${identifiers[0]?.id}`);
      },
    ],
    [
      'loses the grant',
      async () => {
        const { grants } = await ok<Principal>('GET', '/trust/principals/anna');
        await ok('DELETE', `/trust/grants/${grants[0]?.id}`);
      },
    ],
    [
      'is blocked',
      async () => {
        await ok('POST', '/trust/roles', { name: 'blocked', tier: 'BLOCKED', tool_policy: 'none' });
        await grant('anna', { role_id: 'blocked' });
      },
    ],
    ['has a role that is lowered', () => ok('POST', '/trust/roles', { name: 'known', tier: 'UNKNOWN', tool_policy: 'none' })],
  ])('[T02] deny a waiting turn of a sender who %s', async (_how, change) => {
    await addAnna();
    const { end, next } = await waiting();
    await change();
    end();
    expect(await next).toBe('denied');
    expect(core.engine.requests).toHaveLength(1);
  });

  test('[T02] deny a waiting turn whose grant expires', async () => {
    await addAnna();
    await grant('anna', { role_id: 'known', expires_at: clock.now() + 5000 });
    const { end, next } = await waiting();
    clock.advance(5000);
    end();
    expect(await next).toBe('denied');
  });

  test('reduce the rights of a waiting turn', async () => {
    await addAnna('trusted');
    const { end, next } = await waiting();
    await ok('POST', '/trust/roles', { name: 'trusted', tier: 'GUEST', tool_policy: 'none' });
    end();
    expect(await next).toBe('replied');
    expect(core.engine.requests.at(-1)).toMatchObject({ toolPolicy: 'none', facts: { tier: 'GUEST' } });
  });
});

describe('strangers', () => {
  test('are denied at once when the queue is full, and take no place of known senders', async () => {
    await core.close();
    core = await openTestCore({ clock, env: { SVC_MAX_CONCURRENT_TURNS: '1', SVC_MAX_QUEUED_TURNS: '1' } });
    await addAnna();
    const gate = Promise.withResolvers<void>();
    core.engine.script(async function* () {
      await gate.promise;
      yield* says('done');
    });
    const turns = [core.handle(from('42', 'one'))];
    await expect.poll(() => core.engine.requests.length).toBe(1);
    turns.push(core.handle(from('42', 'two')));
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(1);
    const many = await Promise.all(
      Array.from({ length: 50 }, (_, i) => outcome(`stranger${i}`, 'hi', { conversation_key: 'messenger:m1:user:42' })),
    );
    expect(new Set(many)).toEqual(new Set(['denied']));
    expect(core.context.pipeline.counts()).toEqual({ running: 1, waiting: 1 });
    expect((await core.handle(from('42', 'three'))).statusCode).toBe(429);
    gate.resolve();
    expect((await Promise.all(turns)).map((answer) => answer.json().outcome)).toEqual(['replied', 'replied']);
  });

  test('are denied without a database query, and admitted at once after being linked', async () => {
    await addAnna();
    await outcome('42');
    const asked: string[] = [];
    const { get } = core.context.db;
    core.context.db.get = (sql: string, ...values) => (asked.push(sql), get(sql, ...values)) as never;
    expect(await outcome('77')).toBe('denied');
    expect(asked).toEqual([]);
    core.context.db.get = get;
    await link('anna', 'messenger', '77');
    expect(await outcome('77')).toBe('replied');
  });
});
