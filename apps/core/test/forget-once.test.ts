import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { forgetOnceConversations } from '../src/session/forget-once.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const hourMs = 60 * 60_000;
let clock: FakeClock;
let core: TestCore;
let stop: () => void;

beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock });
  stop = forgetOnceConversations(core.context);
});
afterEach(() => {
  stop();
  core.drop();
});

const keys = () =>
  core.context.db.raw
    .prepare('SELECT conversation_key FROM session ORDER BY conversation_key')
    .all()
    .map((row) => row['conversation_key']);
const ask = (key: string) =>
  core.context.pipeline.handle(envelope('hi', { conversation_key: key }), { sink: null, isGone: () => false }, 'r1');
function addIdle(count: number): void {
  const insert = core.context.db.raw.prepare(
    `INSERT INTO session (conversation_key, surface, public, cwd, last_announce_id, fence, created_at, last_active_at)
     VALUES (?, 'compat', 0, '', 0, 1, 0, ?)`,
  );
  for (let i = 0; i < count; i++) insert.run(`compat:c1:once:${String(i).padStart(8, '0')}`, clock.now());
}

test('a one-request conversation is forgotten a day after its last use; others stay', async () => {
  const lasting = ['compat:c1:0f', 'compat:c1:session:once', 'messenger:c1:once:5'];
  for (const key of [...lasting, 'compat:c1:once:a', 'compat:c1:once:b']) await ask(key);
  clock.advance(23 * hourMs);
  await ask('compat:c1:once:b');
  clock.advance(2 * hourMs);
  await expect.poll(keys).toEqual(['compat:c1:0f', 'compat:c1:once:b', 'compat:c1:session:once', 'messenger:c1:once:5']);
  const turns = () =>
    core.context.db.raw.prepare("SELECT count(*) AS n FROM turn WHERE conversation_key = 'compat:c1:once:a'").get()?.['n'];
  await expect.poll(turns).toBe(0);
});

test('more than a thousand one-request conversations are forgotten in one pass', async () => {
  addIdle(1_201);
  clock.advance(25 * hourMs);
  await expect.poll(keys, { timeout: 20_000 }).toEqual([]);
});

test('a conversation claimed by an operator is not forgotten', async () => {
  await ask('compat:c1:once:a');
  await core.context.claims.claim('compat:c1:once:a', 'ann');
  clock.advance(25 * hourMs);
  addIdle(1);
  clock.advance(25 * hourMs);
  await expect.poll(keys).toEqual(['compat:c1:once:a']);
});
