/** A value that is there at once, or a promise of it. */
export type MaybeLater<T> = T | Promise<T>;

/** Continues with a value as soon as it is there: mostly at once, without a promise. */
export const andThen = <T, R>(value: MaybeLater<T>, proceed: (value: T) => MaybeLater<R>): MaybeLater<R> =>
  value instanceof Promise ? value.then(proceed) : proceed(value);
