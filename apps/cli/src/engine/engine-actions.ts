/** What `svc engine` can do. */
export const engineActions = ['list', 'install', 'test', 'login', 'default', 'model', 'key', 'auto-update', 'base-url'] as const;
export type EngineAction = (typeof engineActions)[number];

/** `remove`: the key is forgotten. */
export type EngineOptions = { json?: boolean; remove?: boolean };

/** What stands after what `svc engine` itself takes: with `login` it goes to the vendor's program. */
export type MoreWords = readonly string[];
