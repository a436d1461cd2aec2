/** A point in a scripted reply where the server waits. `wait` also ends when the signal aborts (the client went away). */
export type Gate = { wait(signal: AbortSignal): Promise<void> };

/** A gate the test holds the key to. */
export type TestGate = Gate & {
  /** Settles when a reply waits at the gate. */
  readonly reached: Promise<void>;
  open(): void;
};

/** Makes a gate that stays shut until the test opens it, so that no test depends on timing. */
export function createGate(): TestGate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    async wait(signal) {
      reached.resolve();
      await Promise.race([opened.promise, aborted(signal)]);
    },
  };
}

/** A gate that opens by itself after `ms`, for a person who watches the reply. */
export const pause = (ms: number): Gate => ({
  async wait(signal) {
    const timer = Promise.withResolvers<void>();
    const handle = setTimeout(timer.resolve, ms);
    await Promise.race([timer.promise, aborted(signal)]);
    clearTimeout(handle);
  },
});

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
