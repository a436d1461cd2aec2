/**
 * What the core knows of the use of an instance: turns that are open and replies that wait for their channel, when a person last used it (epoch ms),
 * and how many persons have lately.
 */
export type InstanceWorth = { open: number; last_used_at: number; persons: number };

/** In the file that the core writes when it stops, and now and then; the manager reads it when it starts. By the id of the instance. */
export type InstanceWorthFile = Record<string, InstanceWorth>;
