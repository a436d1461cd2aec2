import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import type { SendOutcome } from '../src/delivery/channel-sender.ts';
import { pruneJournal } from '../src/turn/prune-journal.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
let clock: FakeClock;
let core: TestCore;
let stop: () => void;

beforeEach(async () => {
  clock = createFakeClock();
  const refused: SendOutcome = { delivered: false, permanent: true, error: 'no such room' };
  core = await openTestCore({ clock, sendToChannel: () => Promise.resolve(refused), env: { SVC_HISTORY_DAYS: '90' } });
  stop = pruneJournal(core.context);
});
afterEach(() => {
  stop();
  core.drop();
});

const ask = (text: string) =>
  core.context.pipeline.handle(
    envelope(text, { message_id: text, channel_context: { chatId: 'room' } }),
    { sink: null, isGone: () => false },
    'r1',
  );
const count = (table: 'turn' | 'delivery') =>
  core.context.db.raw.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'] as number;
const health = async () => (await core.app.inject('/health')).json<{ notices: string[] }>().notices;

/** A reply whose delivery fails permanently. */
async function fail(text: string): Promise<void> {
  const failed = core.context.outbox.counts().failed;
  await core.context.pipeline.pendingAcks.undelivered((await ask(text)).turn_id, 'no');
  await expect.poll(() => core.context.outbox.counts().failed).toBe(failed + 1);
}

test('a failed delivery is removed after 30 days, and no longer reported', async () => {
  await fail('old');
  expect(await health()).toEqual([expect.stringContaining('1 reply could not be delivered')]);
  clock.advance(29 * dayMs);
  await fail('young');
  clock.advance(dayMs + hourMs);
  await expect.poll(() => count('delivery')).toBe(1);
  await expect.poll(() => core.context.outbox.counts()).toEqual({ pending: 0, failed: 1 });
  clock.advance(30 * dayMs);
  await expect.poll(() => core.context.outbox.counts()).toEqual({ pending: 0, failed: 0 });
  expect(await health()).toEqual([]);
});

test('a failed delivery dated by a clock that was ahead is removed with the next older one', async () => {
  clock.setBack(-3 * 365 * dayMs);
  await fail('ahead');
  clock.setBack(3 * 365 * dayMs);
  await fail('right');
  clock.advance(29 * dayMs);
  await fail('young');
  clock.advance(dayMs + hourMs);
  await expect.poll(() => count('delivery')).toBe(1);
});

test('turns are removed once they ended longer ago than the history period', async () => {
  for (let n = 0; n < 3; n++) await core.context.pipeline.pendingAcks.delivered((await ask(`old ${n}`)).turn_id);
  clock.advance(89 * dayMs);
  await core.context.pipeline.pendingAcks.delivered((await ask('young')).turn_id);
  expect(count('turn')).toBe(4);
  clock.advance(dayMs + hourMs);
  await expect.poll(() => count('turn')).toBe(1);
});

test('messages that were only observed are removed after the history period', async () => {
  const see = (text: string) =>
    core.handle(envelope(text, { message_id: text, delivery: 'async', conversation_key: `compat:c1:${text}` }));
  await see('old');
  clock.advance(89 * dayMs);
  await see('young');
  clock.advance(dayMs + hourMs);
  await expect.poll(() => core.context.observed.list('compat:c1:old')).toEqual([]);
  expect(await core.context.observed.list('compat:c1:young')).toHaveLength(1);
});

test('a clock set forward by years does not remove recent turns, even after a restart', async () => {
  await core.context.pipeline.pendingAcks.delivered((await ask('young')).turn_id);
  const ended = vi.spyOn(core.context.endedEngineSessions, 'removeSoon');
  const looks = async (times: number) => {
    for (let n = 0; n < times; n++) {
      ended.mockClear();
      clock.advance(hourMs);
      await expect.poll(() => ended.mock.calls.length).toBe(1);
    }
  };
  await looks(1);
  clock.setBack(-3 * 365 * dayMs);
  await looks(3);
  stop();
  stop = pruneJournal(core.context);
  await looks(3);
  expect(count('turn')).toBe(1);
});
