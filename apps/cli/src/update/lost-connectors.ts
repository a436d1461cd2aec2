import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from '@svc/contract/instance.ts';

/** Asks the manager; empty when it does not answer. */
export type ListInstances = () => Promise<Pick<Instance, 'id' | 'healthy' | 'enabled' | 'reason'>[]>;

const pollMs = 250;
/** A connector that has to log in at its channel needs a moment longer than the others. */
const returnMs = 15_000;

/** The connectors that are healthy now. */
export async function wellConnectors(list: ListInstances): Promise<Set<string>> {
  return new Set((await list()).flatMap(({ id, healthy, enabled }) => (healthy && enabled ? [id] : [])));
}

/**
 * The connectors that were healthy and no longer are, each with its reason. The cause may be the version or a channel that is down just now,
 * so they are reported to a person and cause no rollback.
 */
export async function lostConnectors(list: ListInstances, wereWell: ReadonlySet<string>, withinMs = returnMs): Promise<string[]> {
  for (const until = performance.now() + withinMs; ;) {
    const lost = (await list()).filter(({ id, healthy, enabled }) => wereWell.has(id) && enabled && !healthy);
    if (lost.length === 0 || performance.now() > until)
      return lost.map(({ id, reason }) => (reason === null ? id : `${id}: ${reason}`));
    await sleep(pollMs);
  }
}
