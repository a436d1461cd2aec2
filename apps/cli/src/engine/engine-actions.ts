/** What `svc engine` can do. */
export type EngineAction = 'list' | 'install' | 'test' | 'login' | 'default' | 'model' | 'key' | 'auto-update' | 'base-url';

/** `remove`: the key is forgotten. */
export type EngineOptions = { json?: boolean; remove?: boolean };
