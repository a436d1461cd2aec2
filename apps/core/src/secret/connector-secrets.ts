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
/** Each look-up may run a program. */
const maxAtOnce = 32;

/**
 * Secrets that the manager passes to connectors. The core learns their names, so that no reply shows their values. The manager reports each
 * name before it passes the secret on; a core that starts later requests all of them.
 */
export type ConnectorSecrets = {
  /** A secret that is about to be passed on. @throws ServiceError `queue_full`. */
  learn(name: string): Promise<void>;
  /** Learns the secrets passed on before this core started, and retries until the manager answers. Never rejects. */
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
      // The manager is not running: it starts later than this core, and reports the secrets itself.
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

/** The service's own settings are never passed to connectors. */
function namesIn(types: readonly ConnectorMeta[], instances: readonly Instance[]): Set<string> {
  const keysOf = new Map(types.map(({ type, credentialKeys }) => [type, credentialKeys]));
  const values = instances.flatMap(({ type, enabled, config }) =>
    enabled ? (keysOf.get(type) ?? []).map((key) => config[key]) : [],
  );
  const names = values.filter((value) => typeof value === 'string');
  return new Set(names.filter((name) => name !== '' && !name.startsWith('SVC_')));
}
