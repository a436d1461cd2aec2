/** There is one connection: other statements wait while a transaction is open, or they would become part of it. */
type Line = {
  isFree(): boolean;
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `work` while every other statement waits. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when everything that waits now has run. */
  end(): Promise<unknown>;
};

export function createLine(): Line {
  let tail: Promise<unknown> = Promise.resolve();
  let open = 0;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = tail.then(work, work);
    tail = next.catch(() => undefined);
    return next;
  };
  return {
    isFree: () => open === 0,
    inTurn,
    async alone(work) {
      open++;
      try {
        return await inTurn(work);
      } finally {
        open--;
      }
    },
    end: () => tail,
  };
}
