/**
 * What the core knows about the use of an instance: how many turns are open and replies wait for their channel, when a person
 * last used it (epoch ms), and how many persons have used it lately.
 */
export type InstanceWorth = { open: number; last_used_at: number; persons: number };

/** The file that the core writes periodically and when it stops, and that the manager reads when it starts. By instance id. */
export type InstanceWorthFile = Record<string, InstanceWorth>;
