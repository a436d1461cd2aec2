import type { ConnectorState } from './state.ts';

/** The entries below a prefix as a state of their own. */
export const stateBelow = (state: ConnectorState, prefix: string): ConnectorState => ({
  get: (key) => state.get(prefix + key),
  set: (key, value) => state.set(prefix + key, value),
  change: (entries) => state.change(Object.fromEntries(Object.entries(entries).map(([key, value]) => [prefix + key, value]))),
  delete: (key) => state.delete(prefix + key),
  list: async (below) => (await state.list(prefix + below)).map(({ key, value }) => ({ key: key.slice(prefix.length), value })),
  append: (key, item, keep) => state.append(prefix + key, item, keep),
});
