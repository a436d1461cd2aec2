import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock });
});
afterEach(() => core.close());

let serial = 0;
const from = (raw_id: string, over: Partial<Envelope> = {}): Envelope =>
  envelope('hello', {
    channel: 'messenger',
    conversation_key: `messenger:m1:user:${raw_id}`,
    message_id: `m${++serial}`,
    sender: { raw_id, raw_username: 'Anna K.' },
    intake: { pairing: true },
    ...over,
  });
const handle = async (...args: Parameters<typeof from>) => (await core.handle(from(...args))).json();
const post = (url: string, payload: object) => core.app.inject({ method: 'POST', url, payload });
const pair = (payload: object) => post('/trust/pair', payload);
const waiting = async () => (await core.app.inject('/trust/pending')).json().pending as PendingIdentity[];
const first = async () => (await waiting())[0] as PendingIdentity;
const remove = (url: string) => core.app.inject({ method: 'DELETE', url });

/** Sends a message of an unknown sender and gives the code of the answer. */
async function codeFor(raw_id: string): Promise<string> {
  const [action] = (await handle(raw_id)).actions;
  return /[A-Z2-9]{4}-[A-Z2-9]{4}/.exec(action.text)?.[0] ?? '';
}

/** Records an unknown sender, whatever the answer says. */
function note(raw_id: string, over: Partial<Envelope> = {}): string {
  const sentence = core.context.pending.note(from(raw_id, over), { denial: 'unknown_sender' });
  return /[A-Z2-9]{4}-[A-Z2-9]{4}/.exec(sentence ?? '')?.[0] ?? '';
}

describe('the answer to an unknown sender', () => {
  test('is "no access" and, on a new line, the code; no engine is asked and no session stored', async () => {
    const { outcome, actions } = await handle('42');
    expect(outcome).toBe('denied');
    expect(actions).toHaveLength(1);
    expect(actions[0].text).toMatch(/^no access\nTo get access, .*: [A-Z2-9]{4}-[A-Z2-9]{4}$/);
    expect(core.engine.requests).toHaveLength(0);
    expect((await core.app.inject('/v2/session/messenger:m1:user:42')).statusCode).toBe(404);
    expect(await first()).toMatchObject({ surface: 'messenger', value: '42', name: 'Anna K.', count: 1 });
  });

  test('is the same code for the next message, and to a chat command', async () => {
    const code = await codeFor('42');
    expect((await handle('42', { content: { text: '/status' } })).actions[0].text).toContain(code);
    expect(await first()).toMatchObject({ count: 2, code });
  });

  test('is plain "no access" where pairing is off', async () => {
    expect((await handle('42', { intake: {} })).actions).toEqual([{ type: 'reply', text: 'no access' }]);
    expect(await first()).toMatchObject({ value: '42', code: null });
  });

  test('is nothing on a public surface, and the sender is recorded without a code', async () => {
    expect((await handle('42', { public: true })).actions).toEqual([]);
    expect(await first()).toMatchObject({ value: '42', code: null });
  });

  test('that is only observed is empty, and the sender is recorded without a code', async () => {
    expect(await handle('42', { delivery: 'async' })).toMatchObject({ outcome: 'denied', actions: [] });
    expect(await first()).toMatchObject({ value: '42', code: null });
  });

  test.each(['__proto__', 'constructor', 'toString'])('is "no access" for one called %s too', async (value) => {
    expect((await handle(value)).actions[0].text).toMatch(/^no access\n/);
    expect(await first()).toMatchObject({ value });
  });
});

describe('who is denied for another reason gets no code and is not recorded', () => {
  const sql = (text: string) => {
    core.context.db.raw.exec(text);
    core.context.trust.changed();
  };

  test.each([
    ['a disabled principal', "UPDATE principal SET status = 'disabled' WHERE key = 'anna'"],
    ['a blocked principal', "UPDATE role SET tier = 'BLOCKED' WHERE name = 'guest'"],
    ['a principal without a grant', 'DELETE FROM trust_grant'],
    ['a principal whose tier gets no answer', "UPDATE role SET tier = 'UNKNOWN' WHERE name = 'guest'"],
  ])('%s', async (_who, change) => {
    await core.addPrincipal('anna', 'guest', 'messenger');
    sql(change);
    expect((await handle('anna')).actions).toEqual([{ type: 'reply', text: 'no access' }]);
    expect(await waiting()).toEqual([]);
  });

  test('anybody while the gate is closed', async () => {
    const broken = await openTestCore({ before: (dir) => writeFileSync(path.join(dir, 'trust.seed.json'), 'no JSON') });
    expect((await broken.handle(from('42'))).json().actions).toEqual([{ type: 'reply', text: 'no access' }]);
    expect((await broken.app.inject('/trust/pending')).json()).toEqual({ pending: [] });
    await broken.close();
  });
});

test('a sender who is let in or shut out while their turn waits is judged when it runs', async () => {
  await core.addPrincipal('anna', 'known', 'messenger');
  core.engine.script(workingUntilAborted());
  const key = { conversation_key: 'messenger:m1:room' };
  const running = core.handle(from('anna', key));
  await expect.poll(() => core.engine.requests.length).toBe(1);
  const { identifier } = (await pair({ code: note('42') })).json();
  const waits = core.handle(from('42', key));
  await expect.poll(() => core.context.turnQueue.counts().waiting).toBe(1);
  await remove(`/trust/identifiers/${identifier.id}`);
  await post('/v2/abort', key);
  await running;
  expect((await waits).json()).toMatchObject({ outcome: 'denied' });
  expect(core.engine.requests).toHaveLength(1);
});
