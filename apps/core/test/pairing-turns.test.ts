import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { codeIn, from, openPairingBench } from './open-pairing-bench.ts';
import { openTestCore } from './open-test-core.ts';

const bench = openPairingBench((clock) => openTestCore({ clock }));
const { first, note, pair, post, remove, waiting } = bench;
const handle = async (...args: Parameters<typeof from>) => (await bench.core.handle(from(...args))).json();

/** Sends a message of an unknown sender and returns the code in the answer. */
const codeFor = async (raw_id: string): Promise<string> => codeIn((await handle(raw_id)).actions[0].text);

describe('the answer to an unknown sender', () => {
  test('is "no access" and, on a new line, the code; no engine is called and no session stored', async () => {
    const { outcome, actions } = await handle('42');
    expect(outcome).toBe('denied');
    expect(actions).toHaveLength(1);
    expect(actions[0].text).toMatch(/^no access\nTo get access, .*: [A-Z2-9]{4}-[A-Z2-9]{4}$/);
    expect(bench.core.engine.requests).toHaveLength(0);
    expect((await bench.core.app.inject('/v2/session/messenger:m1:user:42')).statusCode).toBe(404);
    expect(await first()).toMatchObject({ surface: 'messenger', value: '42', name: 'Anna K.', count: 1 });
  });

  test('repeats the same code for the next message and for a chat command', async () => {
    const code = await codeFor('42');
    expect((await handle('42', { content: { text: '/status' } })).actions[0].text).toContain(code);
    expect(await first()).toMatchObject({ count: 2, code });
  });

  test('is only "no access" where pairing is off', async () => {
    expect((await handle('42', { intake: {} })).actions).toEqual([{ type: 'reply', text: 'no access' }]);
    expect(await first()).toMatchObject({ value: '42', code: null });
  });

  test('is empty on a public channel, and the sender is recorded without a code', async () => {
    expect((await handle('42', { public: true })).actions).toEqual([]);
    expect(await first()).toMatchObject({ value: '42', code: null });
  });

  test('is empty for an observed message, and the sender is recorded without a code', async () => {
    expect(await handle('42', { delivery: 'async' })).toMatchObject({ outcome: 'denied', actions: [] });
    expect(await first()).toMatchObject({ value: '42', code: null });
  });

  test.each(['__proto__', 'constructor', 'toString'])('is "no access" for a sender named %s, too', async (value) => {
    expect((await handle(value)).actions[0].text).toMatch(/^no access\n/);
    expect(await first()).toMatchObject({ value });
  });
});

describe('a sender denied for another reason gets no code and is not recorded', () => {
  const sql = (text: string) => {
    bench.core.context.db.raw.exec(text);
    bench.core.context.trust.changed();
  };

  test.each([
    ['a disabled principal', "UPDATE principal SET status = 'disabled' WHERE key = 'anna'"],
    ['a blocked principal', "UPDATE role SET tier = 'BLOCKED' WHERE name = 'guest'"],
    ['a principal without a grant', 'DELETE FROM trust_grant'],
    ['a principal whose tier gets no answer', "UPDATE role SET tier = 'UNKNOWN' WHERE name = 'guest'"],
  ])('%s', async (_who, change) => {
    await bench.core.addPrincipal('anna', 'guest', 'messenger');
    sql(change);
    expect((await handle('anna')).actions).toEqual([{ type: 'reply', text: 'no access' }]);
    expect(await waiting()).toEqual([]);
  });

  test('every sender while the trust seed is invalid', async () => {
    const broken = await openTestCore({ before: (dir) => writeFileSync(path.join(dir, 'trust.seed.json'), 'no JSON') });
    expect((await broken.handle(from('42'))).json().actions).toEqual([{ type: 'reply', text: 'no access' }]);
    expect((await broken.app.inject('/trust/pending')).json()).toEqual({ pending: [] });
    await broken.close();
  });
});

test('a sender whose access changes while their turn waits is judged when it runs', async () => {
  await bench.core.addPrincipal('anna', 'known', 'messenger');
  bench.core.engine.script(workingUntilAborted());
  const key = { conversation_key: 'messenger:m1:room' };
  const running = bench.core.handle(from('anna', key));
  await expect.poll(() => bench.core.engine.requests.length).toBe(1);
  const { identifier } = (await pair({ code: note('42') })).json();
  const waits = bench.core.handle(from('42', key));
  await expect.poll(() => bench.core.context.pipeline.counts().waiting).toBe(1);
  await remove(`/trust/identifiers/${identifier.id}`);
  await post('/v2/abort', key);
  await running;
  expect((await waits).json()).toMatchObject({ outcome: 'denied' });
  expect(bench.core.engine.requests).toHaveLength(1);
});
