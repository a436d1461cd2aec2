import type { Instance } from '@svc/contract/instance.ts';
import { findFreePort } from '@svc/supervisor/port-owner.ts';
import { quoted } from '../terminal.ts';

/** The command that fixes an instance; `reason` is its problem. */
export async function fixOfInstance(
  { id, status, heartbeat, config }: Pick<Instance, 'id' | 'status' | 'heartbeat' | 'config'>,
  reason: string | null,
  host: string,
): Promise<string> {
  if (status === 'waiting') return './svc vault unseal';
  const port = Number(/^Port (\d{1,5}) (?:is in use|belongs to)/.exec(reason ?? '')?.[1] ?? 0);
  const field = Object.entries(config).find(([, value]) => value === port)?.[0];
  if (port > 0 && field !== undefined)
    return `./svc connector config ${quoted(id)} --set ${field}=${await findFreePort(host, port)}`;
  if (reason?.startsWith('The keys file lets nobody in: it does not exist') === true)
    return `./svc key create api --connector ${quoted(id)}`;
  // A process that hangs writes no log.
  const isOver = status === 'failed' || status === 'stopped' || (status === 'running' && heartbeat === 'stale');
  return `./svc connector ${isOver ? 'restart' : 'logs'} ${quoted(id)}`;
}
