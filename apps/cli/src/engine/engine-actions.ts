/** What `svc engine` can do. */
export const engineActions = ['list', 'install', 'test', 'login', 'default', 'model', 'key', 'auto-update', 'base-url'] as const;
export type EngineAction = (typeof engineActions)[number];

/** `remove`: the key is forgotten. */
export type EngineOptions = { json?: boolean; remove?: boolean };

/** How many words each takes after the engine. `key` takes one only to say why it is no argument. */
const mostWords: Readonly<Record<Exclude<EngineAction, 'login'>, number>> = {
  list: 0,
  install: 0,
  test: 0,
  default: 0,
  model: 1,
  key: 1,
  'auto-update': 1,
  'base-url': 1,
};

/** Words and mistyped options that an action does not take. What follows `login` is for the vendor's program. */
export function unexpectedWords(action: EngineAction, id: string | null, words: readonly string[]): readonly string[] {
  if (action === 'login') return [];
  if (action === 'list') return id === null ? words : [id, ...words];
  return words.filter((word, at) => at >= mostWords[action] || word.startsWith('-'));
}
