import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AskAnswer } from '@svc/contract/ask.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createAsker, turnLimits, type Audience } from './ask-person.ts';
import { createOpenAsks } from './open-asks.ts';

const timeoutMs = 600_000;
const question = {
  text: 'Go on?',
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
};

/** A turn that asks its person, with the stored rows and the frames shown. */
function open() {
  const clock = createFakeClock();
  const asks = createOpenAsks();
  const rows = new Set<string>();
  const frames: TurnProgress[] = [];
  const turn = new AbortController();
  const at: { audience: Audience; fault: Error | null; serial: number } = { audience: 'shown', fault: null, serial: 0 };
  const asker = createAsker(
    {
      asks,
      askStore: {
        add: async ({ id }) => {
          if (at.fault !== null) throw at.fault;
          rows.add(id);
        },
        remove: async (id) => rows.delete(id),
        takeLeft: () => Promise.resolve([]),
      },
      clock,
      ids: { next: (prefix) => `${prefix}_${++at.serial}` },
      log: { warn: () => undefined, error: () => undefined },
      settings: { askTimeoutMs: timeoutMs },
    },
    {
      turnId: 't',
      conversationKey: 'k',
      isPublic: false,
      principalId: 'anna',
      sink: (frame) => frames.push(frame),
      signal: turn.signal,
      audience: () => at.audience,
      redactor: () => createRedactor([]),
      rest: (wait) => wait(),
      onAsk: () => undefined,
      onAsked: () => undefined,
    },
  );
  return { clock, asks, rows, frames, turn, at, asker, ask: () => asker.ask(question) };
}

/** Lets pending work run as far as it can. */
const settle = async () => {
  for (let n = 0; n < 5; n++) await nextTurn();
};

test('questions of a turn are asked one after another, each after the answer to the one before', async () => {
  const { asks, frames, asker, ask, rows } = open();
  const answers = [ask(), ask()];
  await settle();
  expect(frames.map(({ type }) => type)).toEqual(['ask']);
  asks.answer('ask_1', 'k', 'yes');
  await settle();
  expect([await answers[0], asker.isWaiting(), [...rows]]).toEqual([{ option: 'yes', outcome: 'answered' }, true, ['ask_2']]);
  asks.answer('ask_2', 'k', 'no');
  expect(await answers[1]).toEqual({ option: 'no', outcome: 'answered' });
  expect([asker.isWaiting(), rows.size, frames.map(({ type }) => type)]).toEqual([false, 0, ['ask', 'asked', 'ask', 'asked']]);
});

test('after a question has expired, later questions of the turn expire at once', async () => {
  const { clock, asker, ask } = open();
  const answers = [ask(), ask()];
  await settle();
  clock.advance(timeoutMs - 1);
  await settle();
  expect(asker.waitedMs()).toBe(timeoutMs - 1);
  clock.advance(1);
  expect((await Promise.all(answers)).map(({ outcome }) => outcome)).toEqual(['expired', 'expired']);
  expect(asker.waitedMs()).toBe(timeoutMs);
});

test('denies at once when no client can show the question', async () => {
  const { at, ask, frames } = open();
  at.audience = 'unshown';
  expect([await ask(), frames]).toEqual([{ option: null, outcome: 'unseen' }, []]);
});

test('waits 30 s for a client when none is connected', async () => {
  for (const comes of [true, false]) {
    const { at, ask, clock, asks } = open();
    at.audience = 'nobody';
    const answer = ask();
    await settle();
    if (comes) at.audience = 'shown';
    clock.advance(30_000);
    asks.answer('ask_1', 'k', 'yes');
    expect(await answer).toEqual(comes ? { option: 'yes', outcome: 'answered' } : { option: null, outcome: 'unseen' });
  }
});

test('rejects questions over the limits of waiting ones and of one turn', async () => {
  const { ask, asks, frames } = open();
  const answers = Array.from({ length: 1000 }, ask);
  for (let n = 1; n <= turnLimits.waiting; n++) {
    await settle();
    asks.answer(`ask_${n}`, 'k', 'no');
  }
  const outcomes = (await Promise.all(answers)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(1000 - turnLimits.waiting);
  for (let n = turnLimits.waiting + 1; n <= turnLimits.asks; n++) {
    const answer = ask();
    await settle();
    asks.answer(`ask_${n}`, 'k', 'no');
    await answer;
  }
  expect(await ask()).toEqual({ option: null, outcome: 'refused' });
  expect(frames.filter(({ type }) => type === 'ask')).toHaveLength(turnLimits.asks);
});

test('a question that cannot be stored is not asked', async () => {
  const { at, ask, frames } = open();
  at.fault = new Error('the disk is full');
  expect([await ask(), frames]).toEqual([{ option: null, outcome: 'failed' }, []]);
});

type Step =
  | 'ask'
  | 'yes'
  | 'no'
  | 'other'
  | 'elsewhere'
  | 'again'
  | 'time'
  | 'grace'
  | 'end'
  | 'abort'
  | 'leave'
  | 'come'
  | 'hide'
  | 'full'
  | 'settle';
const steps = fc.array(
  fc.constantFrom<Step>(
    ...([
      'ask',
      'ask',
      'ask',
      'yes',
      'no',
      'other',
      'elsewhere',
      'again',
      'time',
      'grace',
      'end',
      'abort',
      'leave',
      'come',
      'hide',
    ] as const),
    ...(['full', 'settle', 'settle', 'settle'] as const),
  ),
  { maxLength: 40 },
);

test('random orders of asking, answering, leaving and aborting close each question exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (walk) => {
      const { clock, asks, rows, frames, turn, at, asker, ask } = open();
      const answers: Promise<AskAnswer>[] = [];
      const newest = () => asks.list()[0]?.id ?? `ask_${at.serial}`;
      const acts: Record<Step, () => unknown> = {
        ask: () => answers.push(ask()),
        yes: () => asks.answer(newest(), 'k', 'yes'),
        no: () => asks.answer(newest(), 'k', 'no'),
        other: () => expect(asks.answer(newest(), 'k', 'maybe')).not.toBe('taken'),
        elsewhere: () => expect(asks.answer(newest(), 'k2', 'yes')).toBe('unknown'),
        again: () => expect([asks.answer(newest(), 'k', 'yes'), asks.answer(`ask_${at.serial}`, 'k', 'no')][1]).not.toBe('taken'),
        time: () => clock.advance(timeoutMs),
        grace: () => clock.advance(30_000),
        end: () => asker.end(),
        abort: () => turn.abort(),
        leave: () => (at.audience = 'nobody'),
        come: () => (at.audience = 'shown'),
        hide: () => (at.audience = 'unshown'),
        full: () => (at.fault = at.fault === null ? new Error('full') : null),
        settle,
      };
      for (const step of walk) {
        await acts[step]();
        expect(asks.list().length).toBeLessThanOrEqual(1);
      }
      // Questions left open expire.
      for (let n = 0; n <= answers.length; n++) {
        await settle();
        clock.advance(timeoutMs);
      }
      const given = await Promise.all(answers);
      const asked = frames.filter((frame) => frame.type === 'ask');
      const closed = frames.filter((frame) => frame.type === 'asked');
      expect(closed.map(({ id }) => id)).toEqual(asked.map((frame) => frame.ask.id));
      // The answers returned are those that were shown.
      const shown = closed.map(({ answer }) => answer);
      expect(given.filter(({ outcome }) => outcome === 'answered')).toEqual(
        shown.filter(({ outcome }) => outcome === 'answered'),
      );
      expect([asks.list(), rows.size, asker.isWaiting()]).toEqual([[], 0, false]);
      for (const { id } of closed)
        expect([asks.answer(id, 'k', 'yes'), asks.answer(id, 'k2', 'yes')]).toEqual(['over', 'unknown']);
    }),
    { numRuns: 300 },
  );
}, 60_000);
