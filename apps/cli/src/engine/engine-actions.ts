/** What `svc engine` can do. */
export const engineActions = ['list', 'install', 'test', 'login', 'default', 'model', 'key', 'auto-update', 'base-url'] as const;
export type EngineAction = (typeof engineActions)[number];

/** `remove`: the key is forgotten. */
export type EngineOptions = { json?: boolean; remove?: boolean };
