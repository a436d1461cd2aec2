import type { SupervisorState } from '@svc/contract/service.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

type Supervised = SupervisorState['services'][number] | undefined;

/** The program that answers at the address of a recorded process. `pid`: set when it works on our own data folder. */
export type Foreign = { reason: string; pid: number | null };

/** Null when it is ours. A process that our supervisor keeps running owns its port; for any other the owner is looked up. */
export async function foreignAnswer(url: string, known: Supervised, dataDir: string): Promise<Foreign | null> {
  if (known?.status === 'running' && known.pid !== null && isAlive(known.pid)) return null;
  const { describeOwner, findPortOwner } = await import('@svc/supervisor/port-owner.ts');
  const owner = await findPortOwner(Number(new URL(url).port || 80));
  if (owner !== null && owner.pid === known?.pid) return null;
  if (owner !== null && owner.installation?.dataDir === dataDir)
    return { reason: `runs as process ${owner.pid}, and no supervisor of this data folder knows of it`, pid: owner.pid };
  return { reason: `is not of this installation: ${url} belongs to ${describeOwner(owner)}`, pid: null };
}
