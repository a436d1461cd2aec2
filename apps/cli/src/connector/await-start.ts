import type { Instance } from '@svc/contract/instance.ts';
import { CliError } from '../cli-error.ts';
import { visible } from '../terminal.ts';
import type { ConnectorApi } from './connector-api.ts';

type Deps = { api: Pick<ConnectorApi, 'view'>; pause: () => Promise<void> };

/** Longer than a connector may take for its start. */
const mostLooks = 120;

/**
 * Waits, within bounds, until a start has succeeded or failed, and gives the instance as it is then. `endingPid`: of a process that is
 * ended first; one that hangs takes longer for that than the manager lets its callers wait.
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

/** One that was just added may not have begun. */
export const isStarting = ({ status, enabled }: Instance): boolean => status === 'starting' || (status === 'stopped' && enabled);

/** Null for one that runs, starts by itself as soon as it can, or is not meant to; else why it does not. */
export function startFault(instance: Instance): CliError | null {
  const { id, status, reason } = instance;
  if (status === 'running' || status === 'waiting' || status === 'stopped') return null;
  const why = reason === null ? 'It has not said that it is ready yet.' : visible(reason);
  return new CliError(`${id} does not start.`, { why, run: `./svc connector logs ${id}` });
}
