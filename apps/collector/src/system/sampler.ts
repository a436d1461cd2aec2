import type { SystemSample } from '@svc/contract/insights.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Hub } from '@svc/service-kit/hub.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { FeedItem } from '../feed/feed-item.ts';
import { createMachineReader } from './read-machine.ts';
import type { ProcessLister } from './our-processes.ts';
import { createProcessMeter } from './process-meter.ts';
import { keepSample } from './system-store.ts';

type Deps = {
  db: Pick<Database, 'run'>;
  hub: Hub<FeedItem>;
  clock: Clock;
  dataDir: string;
  listProcesses: ProcessLister;
  log: Pick<Log, 'warn'>;
};

export type Sampler = {
  /** The newest sample; null before the first. */
  latest(): SystemSample | null;
  /** Takes one now; for tests. Never rejects. */
  sample(): Promise<void>;
  /** One line for /health; null without a fault. */
  fault(): string | null;
  close(): void;
};

const everyMs = 15_000;

/** Samples the machine and our processes every 15 seconds, the first time after 15 seconds. */
export function createSampler({ db, hub, clock, dataDir, listProcesses, log }: Deps): Sampler {
  const readMachine = createMachineReader(dataDir);
  const measure = createProcessMeter(() => clock.elapsed());
  let latest: SystemSample | null = null;
  let fault: string | null = null;
  let runs = false;
  let isClosed = false;

  const sample = async () => {
    if (runs) return;
    runs = true;
    try {
      const [machine, processes] = await Promise.all([readMachine(), listProcesses().then(measure)]);
      latest = { at: clock.now(), ...machine, processes };
      hub.publish({ name: 'system-sample', data: latest });
      await keepSample(db, latest);
      fault = null;
    } catch (error) {
      if (isClosed) return;
      // Logged only once, because it is tried again every 15 seconds.
      if (fault === null) log.warn({ err: errorText(error) }, 'the state of the machine could not be read');
      fault = `The state of the machine cannot be read: ${errorText(error)}`;
    } finally {
      runs = false;
    }
  };
  const cancel = clock.every(everyMs, () => void sample());
  return {
    latest: () => latest,
    sample,
    fault: () => fault,
    close() {
      isClosed = true;
      cancel();
    },
  };
}
