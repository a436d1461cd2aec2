/** Runs pieces of work one after the other, in the order they came; one that fails does not stop the next. */
export type Order = <T>(work: () => Promise<T>) => Promise<T>;

export function createOrder(): Order {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = tail.then(work);
    tail = done.catch(() => undefined);
    return done;
  };
}
