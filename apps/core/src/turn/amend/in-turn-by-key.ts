/** Runs work of one key one after the other, of different keys side by side. */
export function createInTurnByKey(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    const leave = () => last.get(key) === own && last.delete(key);
    own.then(leave, leave);
    return own;
  };
}
