import { setTimeout as delay } from 'node:timers/promises';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { repositoryRoot } from './repository-root.ts';
import { readSupervisorState } from './up/state-file.ts';

const patienceMs = 5000;
const pauseMs = 100;

/**
 * Retries for a moment while the service runs but nothing listens: a crashed process is being restarted. A
 * refused connection has carried no request, so no request is sent twice.
 */
export async function whileRestarting<T>(
  ask: () => Promise<T>,
  isSupervised: () => boolean = serviceRuns,
  waitMs = patienceMs,
): Promise<T> {
  const until = performance.now() + waitMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isRefused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
      if (!isRefused || performance.now() > until || !isSupervised()) throw error;
    }
    await delay(pauseMs);
  }
}

const serviceRuns = (): boolean => readSupervisorState(dataPaths(loadSettings(repositoryRoot).dataDir).supervisorState) !== null;
