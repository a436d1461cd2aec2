import { takeEnv } from './config/env-file.ts';

/** Set for a host process that is started ahead of its time: it loads its code, and begins when it is told to. */
export const standByVariable = 'GATEWAY_STAND_BY';

/** What a process that stands by says to its parent when nothing is left to load, and what it is told then. */
export const standByWords = { prepared: 'prepared', go: 'go' } as const;

/**
 * Resolves when a process that stands by is told to begin; at once in one that was started for now. `warmUp` is what can be done before: it changes
 * nothing that another process works with. When the parent is gone nobody will ever say a word, so the process ends.
 */
export async function standBy(warmUp: () => Promise<void>): Promise<void> {
  if (takeEnv(standByVariable) === undefined) return;
  const { promise: told, resolve: go } = Promise.withResolvers<void>();
  const hear = (message: unknown) => {
    if ((message as { type?: unknown } | null)?.type === standByWords.go) go();
  };
  const leave = () => process.exit(0);
  process.on('message', hear);
  process.once('disconnect', leave);
  await warmUp();
  process.send?.({ type: standByWords.prepared });
  await told;
  process.off('message', hear);
  process.off('disconnect', leave);
}
