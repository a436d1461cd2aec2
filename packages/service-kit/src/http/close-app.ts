import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from './create-app.ts';

/**
 * Lets open requests end within `deadlineMs`. Then clients that send half a body or do not read are disconnected, so that the process can still close
 * its database.
 */
export async function closeApp(app: App, deadlineMs: number): Promise<void> {
  const closed = app.close();
  await Promise.race([closed, sleep(deadlineMs, undefined, { ref: false })]);
  app.server.closeAllConnections();
  await closed;
}
