import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import type { ChildSpec } from '../src/child-spec.ts';
import type { ChildListener, Spawn } from '../src/spawn-child.ts';

/** A clock the test moves, which also knows how many timers are set. */
export function createCountingClock(): FakeClock & { readonly pending: number } {
  const clock = createFakeClock();
  const set = new Set<object>();
  return {
    ...clock,
    after(ms, fn) {
      const timer = {};
      set.add(timer);
      const cancel = clock.after(ms, () => (set.delete(timer), fn()));
      return () => (set.delete(timer), cancel());
    },
    get pending() {
      return set.size;
    },
  };
}

export type FakeProcess = {
  pid: number;
  spec: ChildSpec;
  alive: boolean;
  sent: unknown[];
  asked: boolean;
  killed: boolean;
  listener: ChildListener;
  /** The process ends; nothing may be heard from it afterwards. */
  exit(code: number | null, signal?: string | null): void;
};

/** Processes that do nothing by themselves: the test decides when they speak and end. */
export function createFakeSpawner(): { spawn: Spawn; processes: FakeProcess[]; alive(): FakeProcess[] } {
  const processes: FakeProcess[] = [];
  const spawn: Spawn = (spec, listener) => {
    const process: FakeProcess = {
      pid: 1000 + processes.length,
      spec,
      alive: true,
      sent: [],
      asked: false,
      killed: false,
      listener,
      exit(code, signal = null) {
        process.alive = false;
        listener.onExit({ code, signal, error: null });
      },
    };
    processes.push(process);
    return {
      pid: process.pid,
      send: (message) => process.alive && process.sent.push(message) > 0,
      terminate: () => void (process.asked = true),
      killGroup: () => void (process.killed = true),
    };
  };
  return { spawn, processes, alive: () => processes.filter((process) => process.alive) };
}
