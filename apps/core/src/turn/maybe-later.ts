/** What is there at once, or comes later. */
export type MaybeLater<T> = T | Promise<T>;

/** Goes on with a value as soon as it is there: at once, for most. */
export const andThen = <T, R>(value: MaybeLater<T>, proceed: (value: T) => MaybeLater<R>): MaybeLater<R> =>
  value instanceof Promise ? value.then(proceed) : proceed(value);
