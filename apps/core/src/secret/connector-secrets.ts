import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText, queueFull } from '@svc/service-kit/service-error.ts';
import type { ManagerReader } from '../instance/manager-reader.ts';
import type { Secrets } from './secrets.ts';

type Deps = {
  manager: ManagerReader;
  secrets: Pick<Secrets, 'get'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
};

const backOff = { firstMs: 5_000, maxMs: 5 * 60_000 };
/** Each may be a program that is run. */
const maxAtOnce = 32;

/**
 * Secrets that the manager gives to connectors, learned here by their names, so that no reply shows one. The manager names
 * each before it gives it out; a core that starts later asks it for all of them.
 */
export type ConnectorSecrets = {
  /** One that is about to be given out. @throws ServiceError `queue_full`. */
  learn(name: string): Promise<void>;
  /** Those that were given out before this core could know of them; asked for until the manager says. Never rejects. */
  learnAll(): Promise<void>;
  close(): void;
};

export function createConnectorSecrets({ manager, secrets, clock, log }: Deps): ConnectorSecrets {
  let atOnce = 0;
  let cancelTimer = () => {};
  let isClosed = false;

  const learnNow = async (name: string): Promise<void> => {
    try {
      await secrets.get(name);
    } catch (error) {
      log.warn(`The secret "${name}" of a connector cannot be masked in replies: ${errorText(error)}`);
    }
  };

  const learnAll = async (failures = 1): Promise<void> => {
    try {
      const [types, instances] = await Promise.all([manager.types(), manager.instances()]);
      for (const name of namesIn(types, instances)) await learnNow(name);
    } catch (error) {
      // Nobody listens there: the manager starts later than this core, and names the secrets itself.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' || isClosed) return;
      log.warn(`The secrets of connectors cannot be masked in replies yet: ${errorText(error)}`);
      cancelTimer = clock.after(backOffMs(backOff, failures), () => void learnAll(failures + 1));
    }
  };

  return {
    async learn(name: string): Promise<void> {
      if (atOnce >= maxAtOnce) throw queueFull(`${maxAtOnce} secrets are being looked up already.`);
      atOnce++;
      try {
        await learnNow(name);
      } finally {
        atOnce--;
      }
    },

    learnAll: (): Promise<void> => learnAll(),

    close(): void {
      isClosed = true;
      cancelTimer();
    },
  };
}

/** Settings of the service are never given to connectors. */
function namesIn(types: readonly ConnectorMeta[], instances: readonly Instance[]): Set<string> {
  const keysOf = new Map(types.map(({ type, credentialKeys }) => [type, credentialKeys]));
  const values = instances.flatMap(({ type, enabled, config }) =>
    enabled ? (keysOf.get(type) ?? []).map((key) => config[key]) : [],
  );
  const names = values.filter((value) => typeof value === 'string');
  return new Set(names.filter((name) => name !== '' && !name.startsWith('SVC_')));
}
