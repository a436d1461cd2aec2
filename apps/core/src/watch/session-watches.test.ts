import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionStreamFrame } from '@svc/contract/session.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { Turn, TurnSink } from '../turn/turn.ts';
import { createSessionWatches } from './session-watches.ts';
import type { Ending, WatchedTurn, Watcher } from './watch-types.ts';

const key = 'shop:s1:user:1';
const plainRedactor = { text: (text: string) => text };

function open(limits?: { watchers: number; chars: number }, redactor: () => unknown = () => plainRedactor) {
  const clock = createFakeClock();
  const faults: unknown[] = [];
  const deps = {
    knownSecrets: { redactor, mask: noMask },
    clock,
    log: { error: (...fault: unknown[]) => void faults.push(fault) },
  };
  return { clock, faults, watches: createSessionWatches(deps as never, limits) };
}
type Opened = ReturnType<typeof open>;
const settle = async ({ clock }: Opened) => {
  clock.advance(1000);
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
};

/** A turn in the journal, as the pipeline has it. */
function turnOf(id: string, text = `text of ${id}`) {
  let said = '';
  let sink: TurnSink | null = null;
  const turn = { id, envelope: { channel: 'shop', conversation_key: key, sender: { raw_id: 'anna' }, content: { text } } };
  const watched: WatchedTurn = {
    turn: turn as Turn,
    said: () => said,
    asked: () => null,
    watch: (start) => (sink = start()),
    unwatch: () => (sink = null),
  };
  return {
    ...watched,
    say(piece: string) {
      said += piece;
      sink?.({ type: 'delta', text: piece });
    },
    retract() {
      said = '';
      sink?.({ type: 'retract' });
    },
    isShown: () => sink !== null,
  };
}

/** A watcher that assembles the text as a client does. */
function reader() {
  const state = {
    place: null as number | null,
    texts: new Map<string, string>(),
    ends: [] as string[],
    types: [] as string[],
    all: '',
  };
  const take = (frame: SessionStreamFrame) => {
    state.types.push(frame.type);
    state.all += JSON.stringify(frame);
    if (frame.seq > 0) state.place = frame.seq;
    if (frame.type === 'gap' || frame.type === 'forgotten') state.texts.clear();
    else if (frame.type === 'begin') state.texts.set(frame.turn_id, '');
    else if (frame.type === 'delta') state.texts.set(frame.turn_id, (state.texts.get(frame.turn_id) ?? '?') + frame.text);
    else if (frame.type === 'retract') state.texts.set(frame.turn_id, '');
    else if (frame.type === 'end') {
      state.ends.push(frame.turn_id);
      state.texts.delete(frame.turn_id);
    }
  };
  const watcher: Watcher = {
    send: ({ lines }) => lines.forEach(({ json }) => take(JSON.parse(json) as SessionStreamFrame)),
    room: () => null,
    failed: () => void state.types.push('failed'),
  };
  return { ...state, state, watcher };
}
const replied = (text: string) => (): Ending => ({ outcome: 'replied', text });

test('watchers that leave and reconnect all assemble the same text and see each end once', async () => {
  const step = fc.constantFrom('begin', 'say', 'say', 'say', 'retract', 'end', 'join', 'leave', 'back', 'wait', 'forget');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const opened = open();
      const { watches } = opened;
      const live: ReturnType<typeof turnOf>[] = [];
      const readers: { state: ReturnType<typeof reader>; stop: () => void }[] = [];
      const away: ReturnType<typeof reader>[] = [];
      const begun = new Set<string>();
      let serial = 0;
      const add = (state: ReturnType<typeof reader>) =>
        readers.push({ state, stop: watches.add(key, state.watcher, state.state.place, live) });
      for (const what of steps) {
        const first = live[0];
        if (what === 'begin') {
          const turn = turnOf(`t${++serial}`);
          live.push(turn);
          watches.accepted(turn);
        } else if (what === 'join') add(reader());
        else if (what === 'back' && away.length > 0) add(away.pop()!);
        else if (what === 'leave' && readers.length > 0) {
          const { state, stop } = readers.shift()!;
          stop();
          away.push(state);
        } else if (what === 'wait') await settle(opened);
        else if (what === 'forget') watches.forget(key);
        else if (first === undefined) continue;
        else if (what === 'say') first.say(`${serial} `);
        else if (what === 'retract') first.retract();
        else if (what === 'end') {
          live.shift();
          begun.add(first.turn.id);
          watches.ended(first, replied(first.said()));
        }
      }
      await settle(opened);
      for (const { state } of readers) {
        const { texts, ends } = state.state;
        const expected = Object.fromEntries(live.map((turn) => [turn.turn.id, turn.said()]));
        // On a busy machine the watchers are served in several turns of the event loop.
        await expect.poll(() => Object.fromEntries(texts)).toEqual(expected);
        expect(new Set(ends).size).toBe(ends.length);
      }
      expect(opened.faults).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('turns are observed only while their conversation is watched, and for one minute after the last watcher left', async () => {
  const opened = open();
  const { watches, clock } = opened;
  const turn = turnOf('t1');
  watches.accepted(turn);
  expect(turn.isShown()).toBe(false);
  const stop = watches.add(key, reader().watcher, null, [turn]);
  expect(turn.isShown()).toBe(true);
  stop();
  clock.advance(59_000);
  expect([turn.isShown(), watches.counts()]).toEqual([true, { conversations: 1, watchers: 0 }]);
  clock.advance(2000);
  expect([turn.isShown(), watches.counts()]).toEqual([false, { conversations: 0, watchers: 0 }]);
});

test('a watcher that reconnects within the minute keeps its watch', () => {
  const { watches, clock } = open();
  watches.add(key, reader().watcher, null, [])();
  clock.advance(59_000);
  watches.add(key, reader().watcher, null, []);
  clock.advance(120_000);
  expect(watches.counts()).toEqual({ conversations: 1, watchers: 1 });
});

test('sequence numbers keep rising after a watch has ended, even when the clock is set back', async () => {
  const opened = open();
  const first = reader();
  opened.watches.add(key, first.watcher, null, [])();
  await settle(opened);
  const stop = opened.watches.add(key, first.watcher, null, []);
  await settle(opened);
  const before = first.state.place ?? 0;
  stop();
  opened.clock.advance(61_000);
  opened.clock.setBack(3_600_000);
  const second = reader();
  opened.watches.add(key, second.watcher, before, []);
  await settle(opened);
  expect(second.state.types).toEqual(['gap', 'watching']);
  expect(second.state.place).toBeGreaterThanOrEqual(before);
});

test('over the limit for all conversations a watcher sees each end, or a gap in its place', async () => {
  const opened = open({ watchers: 10, chars: 5000 });
  const seen = reader();
  opened.watches.add(key, seen.watcher, null, []);
  await settle(opened);
  for (let n = 0; n < 20; n++) {
    const turn = turnOf(`t${n}`, 'x'.repeat(1000));
    opened.watches.accepted(turn);
    opened.watches.ended(turn, replied('y'.repeat(1000)));
    await settle(opened);
  }
  expect(seen.state.ends.length + seen.state.types.filter((type) => type === 'gap').length).toBeGreaterThanOrEqual(20);
  expect(opened.faults).toEqual([]);
});

test('rejects a watcher over the limit until another one leaves', () => {
  const { watches } = open({ watchers: 3, chars: 1e6 });
  const stops = [1, 2, 3].map(() => watches.add(key, reader().watcher, null, []));
  expect(() => watches.add(key, reader().watcher, null, [])).toThrow(/Too many/);
  expect(() => watches.checkRoom()).toThrow(/Too many/);
  stops[0]!();
  watches.add(key, reader().watcher, null, []);
});

test('no turn is shown while the list of secrets cannot be read, and turns continue', async () => {
  const opened = open(undefined, () => {
    throw new Error('unreadable');
  });
  const seen = reader();
  opened.watches.add(key, seen.watcher, null, []);
  const turn = turnOf('t1');
  opened.watches.accepted(turn);
  opened.watches.ended(turn, replied('secret'));
  await settle(opened);
  expect([seen.state.types, turn.isShown(), opened.faults.length]).toEqual([['watching'], false, 1]);
});

test('a watcher that throws is removed without affecting the others', async () => {
  const opened = open();
  const [bad, good] = [reader(), reader()];
  bad.watcher.send = () => {
    throw new Error('gone');
  };
  for (const { watcher } of [bad, good]) opened.watches.add(key, watcher, null, []);
  const turn = turnOf('t1');
  opened.watches.accepted(turn);
  opened.watches.ended(turn, replied('hello'));
  await settle(opened);
  expect([good.state.ends, bad.state.types, opened.watches.counts().watchers]).toEqual([['t1'], ['failed'], 1]);
});
