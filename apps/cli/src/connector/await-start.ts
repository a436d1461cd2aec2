import type { Instance } from '@svc/contract/instance.ts';
import { CliError } from '../cli-error.ts';
import { visible } from '../terminal.ts';
import type { ConnectorApi } from './connector-api.ts';

type Deps = { api: Pick<ConnectorApi, 'view'>; pause: () => Promise<void> };

/** Longer than a connector may take to start. */
const mostLooks = 120;

/**
 * Waits, with a limit, until a start has succeeded or failed, and returns the instance. `endingPid`: a process that is
 * stopped first; one that hangs takes longer to end than the manager lets its callers wait.
 */
export async function awaitStart({ api, pause }: Deps, instance: Instance, endingPid: number | null = null): Promise<Instance> {
  let now = instance;
  const isEnding = () => endingPid !== null && now.pid === endingPid;
  for (let looks = 0; looks < mostLooks && (isStarting(now) || isEnding()); looks++) {
    await pause();
    now = await api.view(instance.id);
  }
  return now;
}

/** An instance that was just added may not have started yet. */
export const isStarting = ({ status, enabled }: Instance): boolean => status === 'starting' || (status === 'stopped' && enabled);

/** Null for an instance that runs, will start by itself, or is switched off; else why it does not run. */
export function startFault(instance: Instance): CliError | null {
  const { id, status, reason } = instance;
  if (status === 'running' || status === 'waiting' || status === 'stopped') return null;
  const why = reason === null ? 'It has not said that it is ready yet.' : visible(reason);
  return new CliError(`${id} does not start.`, { why, run: `./svc connector logs ${id}` });
}
