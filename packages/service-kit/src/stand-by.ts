import { takeEnv } from './config/env-file.ts';

/** Set for a host process that is started ahead of time: it loads its code, and begins when it gets the signal to go. */
export const standByVariable = 'GATEWAY_STAND_BY';

/** The messages of standing by: the process sends `prepared` when everything is loaded, and the parent answers with `go`. */
export const standByWords = { prepared: 'prepared', go: 'go' } as const;

/**
 * Resolves when a process that stands by gets the signal to go; at once in any other process. `warmUp` does what is possible
 * before that without affecting other processes. When the parent has ended, the signal will never come, so the process exits.
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
