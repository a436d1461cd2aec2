/** What is there at once, or comes later. */
export type MaybeLater<T> = T | Promise<T>;

/** Goes on with a value as soon as it is there: at once, for most. */
export const andThen = <T, R>(value: MaybeLater<T>, proceed: (value: T) => MaybeLater<R>): MaybeLater<R> =>
  value instanceof Promise ? value.then(proceed) : proceed(value);

/** Work that asks for texts on its way. */
export type TextSteps<T> = Generator<MaybeLater<string>, T, string>;

/** Does it at once for as long as the texts are there, and the rest later. */
export function settle<T>(steps: TextSteps<T>): MaybeLater<T> {
  let step = steps.next();
  while (step.done !== true) {
    if (step.value instanceof Promise) return settleLater(steps, step.value);
    step = steps.next(step.value);
  }
  return step.value;
}

async function settleLater<T>(steps: TextSteps<T>, first: Promise<string>): Promise<T> {
  let step = steps.next(await first);
  while (step.done !== true) step = steps.next(await step.value);
  return step.value;
}
