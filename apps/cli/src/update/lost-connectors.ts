import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from '@svc/contract/instance.ts';

/** What is asked of the manager; empty when it does not answer. */
export type ListInstances = () => Promise<Pick<Instance, 'id' | 'healthy' | 'enabled' | 'reason'>[]>;

const pollMs = 250;
/** One that has to log in at its channel is there a moment after the others. */
const returnMs = 15_000;

/** The connectors that are well now. */
export async function wellConnectors(list: ListInstances): Promise<Set<string>> {
  return new Set((await list()).flatMap(({ id, healthy, enabled }) => (healthy && enabled ? [id] : [])));
}

/**
 * The connectors that were well and are not any more, each with its reason. That may be the version's fault or that of a channel which is away just now,
 * so it is said to a person, and takes no version back.
 */
export async function lostConnectors(list: ListInstances, wereWell: ReadonlySet<string>, withinMs = returnMs): Promise<string[]> {
  for (const until = performance.now() + withinMs; ;) {
    const lost = (await list()).filter(({ id, healthy, enabled }) => wereWell.has(id) && enabled && !healthy);
    if (lost.length === 0 || performance.now() > until)
      return lost.map(({ id, reason }) => (reason === null ? id : `${id}: ${reason}`));
    await sleep(pollMs);
  }
}
