import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from './create-app.ts';

/**
 * Lets open requests end, but not for ever: a caller that sends half a body or never reads is cut off, or what the process has to do before its
 * end would never be done.
 */
export async function closeApp(app: App, deadlineMs: number): Promise<void> {
  const closed = app.close();
  await Promise.race([closed, sleep(deadlineMs, undefined, { ref: false })]);
  app.server.closeAllConnections();
  await closed;
}
