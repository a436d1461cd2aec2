import { createFileState } from '../state/file-state.ts';
import type { ConnectorState } from '../state/state.ts';

/** The state of a process that a test can kill: earlier changes are on disk, later calls are never answered. */
export type MortalState = {
  state: ConnectorState;
  /** Resolves when nothing is being written, and nothing more will start by itself. */
  quiet(): Promise<void>;
  kill(): Promise<void>;
};

export function createMortalState(file: string): MortalState {
  const whole = createFileState(file, () => undefined);
  const running = new Set<Promise<unknown>>();
  let isDead = false;
  const never = new Promise<never>(() => undefined);

  const live =
    <Args extends unknown[], T>(method: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (isDead) return never;
      const work = method(...args);
      running.add(work);
      const [settled] = await Promise.allSettled([work]);
      running.delete(work);
      if (isDead) return never;
      if (settled.status === 'rejected') throw settled.reason;
      return settled.value;
    };

  const state: ConnectorState = {
    // The cast: a value is read with the type with which it was stored.
    get: live(whole.get) as ConnectorState['get'],
    set: live(whole.set),
    change: live(whole.change),
    delete: live(whole.delete),
    list: live(whole.list),
    append: live(whole.append),
  };
  return {
    state,
    async quiet() {
      for (let still = 0; still < 5; still = running.size === 0 ? still + 1 : 0) {
        await Promise.allSettled(running);
        await new Promise((resolve) => void setImmediate(resolve));
      }
    },
    async kill() {
      isDead = true;
      await Promise.allSettled(running);
    },
  };
}
