import { startSpare, type SpareChild } from '@svc/supervisor/spare-child.ts';
import type { Spawn } from '@svc/supervisor/spawn-child.ts';
import { within } from '@svc/service-kit/within.ts';
import type { HostName } from '../service-urls.ts';
import { toChildSpec, type HostSpec } from './host.ts';
import { prepareMs, type Lifeline } from './lifeline.ts';

/** Host processes that were started in advance, and wait. */
export type StandBy = {
  /** Starts the first process of a host; undefined when none was started in advance. */
  spawnOf(name: HostName): Spawn | undefined;
  /** Ends the unused ones. */
  end(): void;
};

const loadMs = prepareMs - 5000;

/**
 * For a start that has to wait for the previous version to end: starts the host processes, which load all their code, and waits for `go`.
 * Until then they open nothing that the others use. Null when they are not needed any more.
 */
export async function standBy(
  lifeline: Lifeline | null,
  specs: readonly HostSpec[],
  stopTimeoutMs: number,
): Promise<StandBy | null> {
  const spares = new Map<HostName, SpareChild>();
  const ahead: StandBy = {
    spawnOf: (name) => spares.get(name)?.spawn,
    end() {
      for (const spare of spares.values()) spare.end();
    },
  };
  if (lifeline?.kind !== 'waits') return ahead;
  for (const spec of specs) spares.set(spec.name, startSpare(toChildSpec(spec, stopTimeoutMs)));
  await within(Promise.all([...spares.values()].map(({ prepared }) => prepared)), loadMs);
  if (await lifeline.standBy()) return ahead;
  ahead.end();
  return null;
}
