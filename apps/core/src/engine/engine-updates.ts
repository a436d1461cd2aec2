import { isWithin, type Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { isNewer } from '@svc/service-kit/version.ts';
import type { Events } from '../events.ts';
import type { EngineInstaller } from './engine-installer.ts';
import type { EngineRegistry } from './engine-registry.ts';
import type { EngineSettings } from './engine-settings.ts';
import { BrokenVersion } from './install-version.ts';
import { engineIds, type EngineId } from './load-engine.ts';
import type { AnswerOnce } from './verify-version.ts';

type Deps = {
  engineSettings: EngineSettings;
  installer: Pick<EngineInstaller, 'current' | 'isBusy' | 'latest' | 'update'>;
  registry: Pick<EngineRegistry, 'isBusy' | 'look'>;
  events: Pick<Events, 'engine'>;
  clock: Clock;
  log: Pick<Log, 'warn' | 'info'>;
};

const checkEveryMs = 6 * 3_600_000;
/** How often it is checked whether an update is due; one that was postponed for a running turn is retried then. */
const lookEveryMs = 10 * 60_000;

/**
 * Keeps engines with automatic updates at the newest version. Nothing happens at the start; the registry is queried every
 * six hours, counted across restarts. A version that does not work is rolled back and not tried again.
 */
export type EngineUpdates = {
  /** Begins to check for newer versions. */
  start(answerOnce: AnswerOnce): void;
  /** Updates that failed, for the operator. */
  notices(): string[];
  /** Resolves when no check is running. */
  close(): Promise<void>;
};

export function createEngineUpdates({ engineSettings, installer, registry, events, clock, log }: Deps): EngineUpdates {
  let cancel = () => undefined as void;
  let looking: Promise<void> | null = null;

  const isDue = (id: EngineId): boolean => {
    const { auto_update, checked_at } = engineSettings.read(id);
    return auto_update && !isWithin(checked_at ?? 0, checkEveryMs, clock.now()) && !registry.isBusy(id) && !installer.isBusy();
  };

  const failed = async (id: EngineId, why: string, more: { refused_version?: string } = {}): Promise<void> => {
    log.warn({ engine: id, why }, 'an engine was not updated');
    events.engine(id, 'update_failed', why);
    await engineSettings.change(id, { update_fault: why, ...more });
  };

  const update = async (id: EngineId, from: string, to: string, answerOnce: AnswerOnce): Promise<void> => {
    try {
      const { ready } = await registry.look(id);
      await installer.update(id, to, ready, answerOnce);
      await engineSettings.change(id, { update_fault: null });
      events.engine(id, 'updated', `${id} was updated from ${from} to ${to}.`);
      log.info({ engine: id, from, to }, 'an engine was updated');
    } catch (error) {
      const why = `${id} stays at ${from}: ${errorText(error)}`;
      await failed(id, why, error instanceof BrokenVersion ? { refused_version: to } : {});
    }
  };

  const check = async (id: EngineId, answerOnce: AnswerOnce): Promise<void> => {
    let latest: string | null;
    try {
      latest = await installer.latest(id);
    } catch (error) {
      await engineSettings.change(id, { checked_at: clock.now() });
      return failed(id, `The newest version of ${id} is not known: ${errorText(error)}`);
    }
    await engineSettings.change(id, { latest_version: latest, checked_at: clock.now() });
    const current = installer.current(id);
    if (current === null) {
      const why = `The service does not update ${id}, because it did not install it. To change that: ./svc engine install ${id}`;
      return engineSettings.change(id, { update_fault: why });
    }
    if (latest !== null && isNewer(latest, current) && latest !== engineSettings.read(id).refused_version) {
      await update(id, current, latest, answerOnce);
    }
  };

  const look = async (answerOnce: AnswerOnce): Promise<void> => {
    for (const id of engineIds) if (isDue(id)) await check(id, answerOnce);
  };

  const lookOnce = (answerOnce: AnswerOnce): void => {
    looking ??= look(answerOnce)
      .catch((error: unknown) => log.warn({ err: error }, 'engines could not be updated'))
      .finally(() => (looking = null));
  };

  return {
    start(answerOnce): void {
      cancel = clock.every(lookEveryMs, () => lookOnce(answerOnce));
    },

    notices: (): string[] =>
      engineIds.flatMap((id) => {
        const { auto_update, update_fault } = engineSettings.read(id);
        return auto_update && update_fault !== null ? [update_fault] : [];
      }),

    async close(): Promise<void> {
      cancel();
      await looking;
    },
  };
}
