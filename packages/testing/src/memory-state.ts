import type { ConnectorState, StateValue } from '@svc/connector-kit';

/** A connector's state in memory, without disk access. */
export function createMemoryState(): ConnectorState {
  const entries = new Map<string, StateValue>();
  const put = (key: string, value: StateValue | undefined) =>
    value === undefined ? entries.delete(key) : entries.set(key, structuredClone(value));
  return {
    get: async <T extends StateValue>(key: string) => entries.get(key) as T | undefined,
    set: async (key, value) => void put(key, value),
    change: async (changes) => Object.entries(changes).forEach(([key, value]) => put(key, value)),
    delete: async (key) => void entries.delete(key),
    list: async (prefix) =>
      [...entries]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => ({ key, value }))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    append: async (key, item, keep = 1000) => {
      const list = entries.get(key);
      put(key, [...(Array.isArray(list) ? (list as StateValue[]) : []), item].slice(-keep));
    },
  };
}
