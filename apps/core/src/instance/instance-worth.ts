import type { InstanceWorth, InstanceWorthFile } from '@svc/contract/instance-worth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { DeliveryStore } from '../delivery/delivery-store.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';

const everyMs = 10 * 60_000;

type Sources = {
  sessions: Pick<SessionStore, 'useOfInstances'>;
  journal: Pick<TurnJournal, 'openByInstance'>;
  deliveries: Pick<DeliveryStore, 'pendingByInstance'>;
};
type Deps = Sources & { file: string; clock: Pick<Clock, 'every'>; log: Pick<Log, 'warn'> };

/** Records for the manager how much each instance is used, so that the most used ones start first next time. */
export type WorthNotes = {
  /** Records for the last time; never rejects. */
  end(): Promise<void>;
};

export function noteWorth({ file, clock, log, ...sources }: Deps): WorthNotes {
  const write = async (): Promise<void> => {
    try {
      writeFileAtomic(file, JSON.stringify(await readWorth(sources)));
    } catch (error) {
      log.warn({ fault: errorText(error) }, 'the use of channels could not be stored; their start order stays as it was');
    }
  };
  const stop = clock.every(everyMs, () => void write());
  return {
    async end() {
      stop();
      await write();
    },
  };
}

async function readWorth({ sessions, journal, deliveries }: Sources): Promise<InstanceWorthFile> {
  const found = new Map<string, InstanceWorth>();
  for (const { id, last_used_at, persons } of await sessions.useOfInstances()) found.set(id, { open: 0, last_used_at, persons });
  for (const { id, open } of [...(await journal.openByInstance()), ...(await deliveries.pendingByInstance())]) {
    const worth = found.get(id) ?? { open: 0, last_used_at: 0, persons: 0 };
    found.set(id, { ...worth, open: worth.open + open });
  }
  return Object.fromEntries(found);
}
