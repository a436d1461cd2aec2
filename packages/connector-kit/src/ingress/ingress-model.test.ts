import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallOptions, CoreApi } from '../connector.ts';
import { createMortalState, type MortalState } from '../testing/mortal-state.ts';
import { createIngress, type Ingress } from './ingress.ts';

type Update = { id: string; chat: string; album?: string | undefined };
type Entry = { turnId: string; chat: string; text: string; result: HandleResult | null; isDelivered: boolean };

const never = new Promise<never>(() => undefined);
const away = () => new ServiceError('unavailable', 'away');

/** The core as ingress sees it: a message id runs once, until its conversation is forgotten. */
function createModelCore() {
  const journal = new Map<string, Entry>();
  const ran: Entry[] = [];
  const confirmed = new Set<string>();
  const calls = new Set<{ entry: Entry; settle: PromiseWithResolvers<HandleResult> }>();
  const core = {
    ran,
    confirmed,
    mode: 'up' as 'up' | 'full' | 'away',
    async handle({ message_id = '', conversation_key: chat, content }: Envelope, options: CallOptions): Promise<HandleResult> {
      if (core.mode === 'away') throw away();
      if (core.mode === 'full') throw new ServiceError('queue_full', 'full');
      let entry = journal.get(`${chat} ${message_id}`);
      if (entry === undefined) {
        entry = { turnId: `t${ran.length}`, chat, text: content.text, result: null, isDelivered: false };
        journal.set(`${chat} ${message_id}`, entry);
        ran.push(entry);
      }
      if (entry.result !== null) return entry.result;
      const settle = Promise.withResolvers<HandleResult>();
      calls.add({ entry, settle });
      await Promise.resolve();
      options.onAccepted?.(entry.turnId);
      return settle.promise;
    },
    answer() {
      for (const { entry, settle } of calls) {
        const { turnId: turn_id, chat: conversation_key } = entry;
        entry.result ??= { outcome: 'replied', actions: [{ type: 'reply', text: entry.text }], turn_id, conversation_key };
        settle.resolve(entry.result);
      }
      calls.clear();
    },
    cut() {
      for (const { settle } of calls) settle.reject(away());
      calls.clear();
    },
    /** `/new`: forgets ended turns that were delivered. */
    forget() {
      for (const [name, { result, isDelivered }] of journal) if (result !== null && isDelivered) journal.delete(name);
    },
    delivered(turnId: string) {
      confirmed.add(turnId);
      for (const entry of journal.values()) if (entry.turnId === turnId) entry.isDelivered = true;
    },
  };
  return core;
}

/** A platform that gives all unacknowledged updates, in order, to the process that asks. */
function createWorld(folder: string, updates: readonly Update[]) {
  const clock = createFakeClock();
  const core = createModelCore();
  const waiting = [...updates];
  const shown: string[] = [];
  let given = 0;
  let process: { ingress: Ingress; mortal: MortalState; isDead: boolean; asked: Set<string>; safe: Set<Update> } | null = null;

  const start = (): void => {
    const mortal = createMortalState(path.join(folder, 'state.jsonl'));
    const own = { mortal, isDead: false, asked: new Set<string>(), safe: new Set<Update>() };
    const alive =
      <T extends (...args: never[]) => unknown>(call: T) =>
      (...args: Parameters<T>) =>
        own.isDead ? never : call(...args);
    const api = {
      handleStream: alive(async (envelope: Envelope, _handlers: object, options: CallOptions) => {
        const result = await core.handle(envelope, {
          ...options,
          onAccepted: (turnId) => void (own.isDead || options.onAccepted?.(turnId)),
        });
        return own.isDead ? never : result;
      }),
      amend: alive(() => Promise.resolve({ outcome: 'unknown' })),
      delivered: (turnId: string) => void (own.isDead || core.delivered(turnId)),
    } as unknown as CoreApi;
    const ingress = createIngress({
      core: api,
      state: mortal.state,
      log: () => undefined,
      clock,
      openReply: () => ({
        handlers: {},
        finish: async ({ turn_id }) => (own.isDead ? never : void shown.push(turn_id)),
        fail: async () => undefined,
      }),
    });
    process = { ...own, ingress };
    // The closures above use `own`.
    Object.defineProperty(process, 'isDead', { set: (value: boolean) => (own.isDead = value), get: () => own.isDead });
  };

  const prepare = ({ id, chat }: Update) => {
    const own = process;
    return async (): Promise<Envelope> => {
      for (let tick = 0; tick < id.length % 3; tick++) await new Promise((resolve) => void setImmediate(resolve));
      if (own?.isDead === true) return never;
      return { channel: 'shop', conversation_key: chat, message_id: id, sender: { raw_id: 'ann' }, content: { text: id } };
    };
  };

  return {
    clock,
    core,
    shown,
    waiting,
    /** Gives the next updates, and again those that were given before and not acknowledged. */
    give(count: number) {
      if (process === null) start();
      const own = process;
      given = Math.max(given, Math.min(updates.length, updates.length - waiting.length + count));
      for (const update of waiting.filter((each) => updates.indexOf(each) < given)) {
        if (own === null || own.asked.has(update.id)) continue;
        own.asked.add(update.id);
        const acknowledge = () => void own.safe.add(update);
        const again = () => void own.asked.delete(update.id);
        own.ingress.take(update.chat, update.id, prepare(update), update.album).then(acknowledge, again);
      }
    },
    quiet: async () => process?.mortal.quiet(),
    /** Acknowledges the safe updates. Those not acknowledged when the process ends are given again. */
    acknowledge() {
      for (const update of process?.safe ?? []) waiting.splice(waiting.indexOf(update), 1);
      process?.safe.clear();
    },
    crash: async () => {
      if (process === null) return;
      process.isDead = true;
      const { mortal } = process;
      process = null;
      await mortal.kill();
    },
    async isDone() {
      const open = await createMortalState(path.join(folder, 'state.jsonl')).state.list('ingress/open/');
      return waiting.length + open.length === 0 && core.ran.every(({ turnId }) => core.confirmed.has(turnId));
    },
  };
}

type World = ReturnType<typeof createWorld>;
const ticks = async (count: number) => {
  for (let tick = 0; tick < count; tick++) await new Promise((resolve) => void setImmediate(resolve));
};

const steps: Record<string, (world: World, n: number) => unknown> = {
  give: (world, n) => world.give(n + 1),
  acknowledge: (world) => world.acknowledge(),
  wait: (world) => world.quiet(),
  tick: (_world, n) => ticks(n),
  pass: (world, n) => world.clock.advance([10, 400, 3000, 61_000][n % 4] ?? 0),
  crash: (world, n) => ticks(n % 3).then(world.crash),
  full: ({ core }) => (core.mode = 'full'),
  away: ({ core }) => (core.cut(), (core.mode = 'away')),
  up: ({ core }) => (core.mode = 'up'),
  answer: ({ core }) => core.answer(),
  cut: ({ core }) => core.cut(),
  forget: ({ core }) => core.forget(),
};

const step = fc.tuple(
  fc.constantFrom(...Object.keys(steps), 'give', 'wait', 'wait', 'crash', 'answer', 'up'),
  fc.nat({ max: 7 }),
);
const updates = fc
  .array(fc.record({ chat: fc.constantFrom('a', 'b'), album: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }) }), {
    minLength: 1,
    maxLength: 10,
  })
  .map((drafts) => drafts.map((draft, index) => ({ ...draft, id: `u${index}` })));

const updatesOf = (count: number): Update[] => Array.from({ length: count }, (_, index) => ({ chat: 'a', id: `u${index}` }));

/** Former failures: an update arrives just when those before it time out. */
const earlier: [Update[], [string, number][]][] = [
  [
    updatesOf(3),
    [
      ['give', 1],
      ['away', 0],
      ['wait', 0],
      ['give', 2],
      ['pass', 7],
    ],
  ],
  [
    updatesOf(2),
    [
      ['give', 0],
      ['pass', 3],
      ['give', 1],
    ],
  ],
];

test('each update runs once, in the order of its chat, and is shown, despite crashes, refusals and forgotten turns', async () => {
  await fc.assert(
    fc.asyncProperty(updates, fc.array(step, { maxLength: 30, size: 'max' }), async (all, script) => {
      const folder = temporaryFolder();
      const world = createWorld(folder.path, all);
      const crashes = script.filter(([name]) => name === 'crash').length;
      try {
        for (const [name, n] of script) {
          await steps[name]?.(world, n);
        }
        world.core.mode = 'up';
        for (let round = 0; round < 300 && !(await world.isDone()); round++) {
          world.give(all.length);
          world.clock.advance(1000);
          world.core.answer();
          await world.quiet();
          world.acknowledge();
        }
        expect(world.waiting).toEqual([]);
        for (const chat of ['a', 'b']) {
          const said = world.core.ran.filter((entry) => entry.chat === chat).flatMap(({ text }) => text.split('\n'));
          expect(said).toEqual(all.filter((update) => update.chat === chat).map(({ id }) => id));
        }
        for (const { turnId } of world.core.ran) {
          const times = world.shown.filter((id) => id === turnId).length;
          expect(times).toBeGreaterThanOrEqual(1);
          expect(times).toBeLessThanOrEqual(1 + crashes);
          expect(world.core.confirmed).toContain(turnId);
        }
      } finally {
        await world.crash();
        folder.remove();
      }
    }),
    { numRuns: 60, examples: earlier },
  );
});
