import path from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createCoreLink, type CoreLink } from '../src/core-link.ts';
import { startLinkServer, type LinkCall, type LinkServer } from '../src/testing/link-server.ts';

/** One event. `say` makes every turn of the core write a word; a `crash` makes the core start its turns over. */
type Step = { do: 'ask'; named: boolean; stream: boolean; words: number } | { do: 'say' | 'break' | 'crash' | 'settle' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), named: often(), stream: often(), words: fc.nat(4) }) },
  { weight: 5, arbitrary: fc.constant({ do: 'say' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'break' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
);

function often(): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: 3 }).map((n) => n > 0);
}

test('answers every message once over random breaks, each with its own answer, and leaves no timer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30 }), async (steps) => {
      const folder = temporaryFolder();
      const core = await startModelCore(path.join(folder.path, 'core.sock'));
      const { clock, live } = quickClock();
      const link = createCoreLink({ socketPath: core.socketPath, pass: 'a-pass', clock, log: () => undefined });
      try {
        const asked: Asked[] = [];
        for (const one of steps) {
          if (one.do === 'ask') asked.push(ask(link, asked.length, one));
          else await core[one.do]();
        }
        await core.finishAll(() => asked.every((one) => one.ending !== null));
        for (const one of asked) checkAsked(one);
        core.check();
        await vi.waitFor(() => expect(live.size).toBe(0), { timeout: 40_000, interval: 1 });
      } finally {
        link.close();
        await core.stop();
        folder.remove();
      }
    }),
    { numRuns: 60 },
  );
});

type Ask = Extract<Step, { do: 'ask' }>;
type Asked = Ask & { text: string; shown: string; ending: HandleResult | Error | null; isLate: boolean };

const textOf = (serial: number, words: number) => Array.from({ length: words + 1 }, (_, i) => `m${serial}w${i} `).join('');

/** Asks as a connector does, and keeps what its channel would show. */
function ask(link: CoreLink, serial: number, how: Ask): Asked {
  const text = textOf(serial, how.words);
  const asked: Asked = { ...how, text, shown: '', ending: null, isLate: false };
  const show = (next: string) => {
    asked.isLate ||= asked.ending !== null;
    asked.shown = next;
  };
  const envelope: Envelope = {
    channel: 'compat',
    conversation_key: 'compat:i:k',
    message_id: how.named ? `m${serial}` : undefined,
    sender: { raw_id: 'ann' },
    content: { text },
  };
  const turn = how.stream
    ? link.handleStream(envelope, { onDelta: (more) => show(asked.shown + more), onRetract: () => show('') })
    : link.handle(envelope);
  turn.then(
    (result) => (asked.ending = result),
    (error: Error) => (asked.ending = error),
  );
  return asked;
}

function checkAsked({ named, text, shown, ending, isLate }: Asked): void {
  expect(isLate).toBe(false);
  if (ending instanceof Error) {
    expect(named).toBe(false);
    expect(ending).toMatchObject({ code: 'unavailable', mayHaveRun: true });
    return;
  }
  expect(ending?.actions).toEqual([{ type: 'reply', text }]);
  expect(['', text]).toContain(shown);
}

type ModelTurn = { words: string[]; said: number; callers: Set<LinkCall>; result: HandleResult | null };

/** A small model of the core: a repeated message is one turn, and a turn survives the link and the process. */
async function startModelCore(socketPath: string) {
  const turns = new Map<string, ModelTurn>();
  const calls: LinkCall[] = [];
  let epoch = 0;
  const epochs = new Map<LinkCall, number>();

  const take = (call: LinkCall) => {
    const { request } = call;
    if (request.op !== 'handle') return;
    calls.push(call);
    epochs.set(call, epoch);
    const name = request.envelope.message_id ?? `unnamed ${request.id}`;
    const turn = turns.get(name) ?? {
      words: request.envelope.content.text.split(/(?<= )/).filter(Boolean),
      said: 0,
      callers: new Set(),
      result: null,
    };
    turns.set(name, turn);
    if (turn.result !== null) return call.reply({ result: turn.result });
    if (turn.said > 0 && request.stream) call.reply({ frame: { type: 'delta', text: turn.words.slice(0, turn.said).join('') } });
    turn.callers.add(call);
  };
  const open = () => startLinkServer(socketPath, take);
  let server: LinkServer = await open();

  const sayWord = (turn: ModelTurn) => {
    const text = turn.words[turn.said++];
    const result: HandleResult = {
      actions: [{ type: 'reply', text: turn.words.join('') }],
      outcome: 'replied',
      conversation_key: 'k',
      turn_id: 't',
    };
    if (text === undefined) turn.result = result;
    for (const call of turn.callers) {
      if (text === undefined) call.reply({ result });
      else if (call.request.op === 'handle' && call.request.stream) call.reply({ frame: { type: 'delta', text } });
    }
  };
  const core = {
    socketPath,
    /** Every turn writes its next word, and its result after the last one. */
    async say() {
      for (const turn of turns.values()) if (turn.result === null) sayWord(turn);
    },
    settle: () => ticks(5),
    async break() {
      for (const turn of turns.values()) turn.callers.clear();
      server.breakLinks();
    },
    async crash() {
      epoch++;
      for (const turn of turns.values()) {
        turn.callers.clear();
        if (turn.result === null) turn.said = 0;
      }
      await server.stop();
      server = await open();
    },
    async finishAll(isOver: () => boolean) {
      await vi.waitFor(
        async () => {
          await core.say();
          expect(isOver()).toBe(true);
        },
        { timeout: 40_000, interval: 1 },
      );
    },
    /** No message was sent twice over one link, out of order or with a wrong mark; messages without an id were sent once. */
    check() {
      const times = new Map<number, number>();
      const last = new Map<string, number>();
      for (const call of calls) {
        const { request, connection } = call;
        if (request.op !== 'handle') continue;
        const link = `${epochs.get(call)} ${connection}`;
        expect(request.id).toBeGreaterThan(last.get(link) ?? 0);
        last.set(link, request.id);
        const before = times.get(request.id) ?? 0;
        times.set(request.id, before + 1);
        if (before > 0) expect(request.again).toBe(true);
        if (request.envelope.message_id === undefined) expect(before).toBe(0);
      }
    },
    stop: () => server.stop(),
  };
  return core;
}

async function ticks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** The real clock with reconnect times a fiftieth as long, and its active timers. */
function quickClock() {
  const live = new Set<symbol>();
  const clock: Clock = {
    ...systemClock,
    after(ms, fn) {
      const id = Symbol('timer');
      live.add(id);
      const cancel = systemClock.after(ms <= 1_200 ? ms / 50 : ms, () => {
        live.delete(id);
        fn();
      });
      return () => {
        live.delete(id);
        cancel();
      };
    },
  };
  return { clock, live };
}
