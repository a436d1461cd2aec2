import { setImmediate as settle } from 'node:timers/promises';
import { unavailable } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionRow } from '../session/session-store.ts';
import type { TerminalRow } from '../session/terminal-sessions.ts';
import { createTerminals, type Terminals } from './terminals.ts';

/** A core with its database and a tmux server, all in memory; both outlive the core. */
function createHouse() {
  const panes = new Map<string, number>();
  const notes = new Map<string, string>();
  const claimed = new Map<string, string>();
  const busy = new Set<string>();
  let serial = 0;
  let fails = false;
  let isFull = false;
  /** The error of tmux when it cannot list its programs. */
  let silence: Error | null = null;
  const session = (key: string) =>
    ({ engine_id: 'claude', engine_session_id: `s-${key}`, claimed_by: claimed.get(key) ?? null, cwd: '/' }) as SessionRow;
  /** Each core has its own clock; that of a killed one stops. */
  let clock = createFakeClock();
  const start = (): Terminals => {
    clock = createFakeClock();
    return createTerminals({
      tmux: {
        socket: '/s',
        async open(id) {
          await settle();
          if (fails) throw unavailable('tmux cannot be run');
          panes.set(id, process.pid);
          return process.pid;
        },
        async list() {
          if (silence !== null) throw unavailable('tmux cannot be run', silence);
          return [...panes].map(([id, pid]) => ({ id, pid, pids: [pid], startedAt: 1 }));
        },
        end: async (id) => void panes.delete(id),
        stop: async () => panes.clear(),
        screen: null as never,
      },
      onReleased: () => undefined,
      claims: {
        claim: async (key, by) => void claimed.set(key, by),
        release: async (key) => void claimed.delete(key),
        forget: (key) => claimed.delete(key),
      },
      sessions: {
        inTerminals: async () =>
          [...notes].map(([key, id]): TerminalRow => ({
            id,
            conversation_key: key,
            engine_id: 'claude',
            engine_session_id: 's',
            cwd: '/',
          })),
        enterTerminal: async (key, id) => void notes.set(key, id),
        async leaveTerminal(key, id) {
          if (isFull) throw new Error('the disk is full');
          if (notes.get(key) === id) notes.delete(key);
        },
        read: async (key) => session(key),
        open: async ({ conversation_key, engine_id, cwd }) => ({
          conversation_key,
          engine_id,
          cwd,
          engine_session_id: null,
          turns: 0,
          title_by: null,
          fence: 1,
          missed: 0,
        }),
        keepEngineSession: async () => undefined,
        delete: async () => 1,
      },
      isBusy: (key) => busy.has(key),
      keyOf: (engine, id) => `terminal:${engine}:${id}`,
      programOf: async (_, { resume }) => ({ argv: ['claude', 'x'], env: {}, engineSessionId: resume }),
      looks: { look: async (folder) => ({ ok: true, path: folder }) },
      workspaces: { shared: () => '/' },
      programs: { birthOf: () => 'now', kill: () => undefined },
      talks: {
        begin: async () => undefined,
        async take() {
          for (let i = 0; i < 8; i++) await settle();
        },
      },
      events: { claim: () => undefined },
      clock,
      ids: { next: (prefix) => `${prefix}_${++serial}` },
      log: { info: () => undefined, error: () => undefined },
    });
  };
  const rest = async () => {
    for (let i = 0; i < 20; i++) await settle();
  };
  /** Long enough for the watch to ask tmux itself. */
  const watch = async () => {
    for (let i = 0; i < 31; i++) {
      clock.advance(1000);
      await rest();
    }
  };
  return {
    panes,
    notes,
    claimed,
    busy,
    start,
    rest,
    watch,
    tick: () => clock.advance(1000),
    fail: (does: boolean) => void (fails = does),
    fill: (does: boolean) => void (isFull = does),
    silence: (why: Error | null) => void (silence = why),
  };
}

type Step = ['open' | 'end' | 'die' | 'busy' | 'idle', string] | ['crash' | 'kill all' | 'fail' | 'work', ''];
const key = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constantFrom('open', 'open', 'end', 'die', 'busy', 'idle'), key) as fc.Arbitrary<Step>,
  fc.tuple(fc.constantFrom('crash', 'kill all', 'fail', 'work'), fc.constant('')) as fc.Arbitrary<Step>,
);

test('a session is claimed exactly while its one program runs, under random failures of programs, tmux and core', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), async (rounds) => {
      const house = createHouse();
      let core = house.start();
      const idOf = (of: string) => core.list().find(({ conversation_key }) => conversation_key === of)?.id ?? '';
      const take = async ([what, of]: Step): Promise<unknown> => {
        if (what === 'open') return core.open({ conversation_key: of }).catch(() => undefined);
        if (what === 'end') return core.end(idOf(of)).catch(() => undefined);
        if (what === 'die') return house.panes.delete(idOf(of));
        if (what === 'busy') return house.claimed.has(of) || house.busy.add(of);
        if (what === 'idle') return house.busy.delete(of);
        if (what === 'kill all') return house.panes.clear();
        return house.fail(what === 'fail');
      };
      for (const steps of rounds) {
        await Promise.all(steps.filter(([what]) => what !== 'crash').map(take));
        await house.rest();
        if (steps.some(([what]) => what === 'crash')) {
          core = house.start();
          await core.recover();
        }
        await house.watch();
        const open = Object.fromEntries(core.list().map(({ id, conversation_key }) => [conversation_key, id]));
        expect(core.list()).toHaveLength(Object.keys(open).length);
        expect(Object.fromEntries(house.claimed)).toEqual(open);
        expect(Object.fromEntries(house.notes)).toEqual(open);
        expect(new Set(house.panes.keys())).toEqual(new Set(Object.values(open)));
      }
    }),
    { numRuns: 40 },
  );
});

test('when tmux does not answer at the start, sessions stay claimed, programs live, and the core asks again', async () => {
  const house = createHouse();
  const { id } = await house.start().open({ conversation_key: 'a' });
  house.silence(new Error('it took longer than 5 s'));
  const stopped = house.start();
  await stopped.recover();
  await stopped.close();
  const core = house.start();
  await core.recover();
  expect([house.claimed.get('a'), house.notes.get('a'), [...house.panes.keys()]]).toEqual([id, id, [id]]);
  await expect(core.open({ conversation_key: 'b' })).rejects.toThrow('Try again in a moment');
  house.silence(null);
  await house.watch();
  expect(core.list().map(({ conversation_key }) => conversation_key)).toEqual(['a']);
  await core.open({ conversation_key: 'b' });
});

test('a session whose release fails when its program ends is released later', async () => {
  const house = createHouse();
  const core = house.start();
  await core.open({ conversation_key: 'a' });
  house.fill(true);
  house.panes.clear();
  await house.watch();
  house.fill(false);
  await house.watch();
  expect([house.claimed.size, house.notes.size, core.list()]).toEqual([0, 0, []]);
});

test('ending a terminal that has already ended waits until its session is released', async () => {
  const house = createHouse();
  const core = house.start();
  const { id } = await core.open({ conversation_key: 'a' });
  house.panes.clear();
  for (let i = 0; i < 30; i++) house.tick();
  await settle();
  await settle();
  await core.end(id);
  expect([house.claimed.size, house.notes.size, core.list()]).toEqual([0, 0, []]);
});

test('no session stays claimed by a terminal when tmux is not installed', async () => {
  const house = createHouse();
  await house.start().open({ conversation_key: 'a' });
  house.silence(Object.assign(new Error('spawn tmux ENOENT'), { code: 'ENOENT' }));
  await house.start().recover();
  expect([house.claimed.size, house.notes.size]).toEqual([0, 0]);
});
