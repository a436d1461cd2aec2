import { startSpare, type SpareChild } from '@svc/supervisor/spare-child.ts';
import type { Spawn } from '@svc/supervisor/spawn-child.ts';
import { within } from '@svc/service-kit/within.ts';
import type { HostName } from '../service-urls.ts';
import { toChildSpec, type HostSpec } from './host.ts';
import { prepareMs, type Lifeline } from './lifeline.ts';

/** Host processes that were started ahead, and wait. */
export type StandBy = {
  /** How the first process of a host is started; undefined when none was started ahead. */
  spawnOf(name: HostName): Spawn | undefined;
  /** Ends those that nobody has taken. */
  end(): void;
};

const loadMs = prepareMs - 5000;

/**
 * Where this is to begin only when the version before has ended: starts the host processes, which load all that they need, and waits to be told.
 * They have opened nothing by then that the others work with. Null when it is not needed any more.
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
