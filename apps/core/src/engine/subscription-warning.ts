import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { EngineRegistry } from './engine-registry.ts';

/** Warns when a personal login answers people other than its owner, which most vendors forbid. */
export type SubscriptionWarning = {
  /** For an engine that is paid by a login; null while only the owner can be served. */
  of(engineId: string): Promise<string | null>;
  /** The same for the engine in use, from the last check. */
  notices(): string[];
};

type Deps = {
  /** How many people other than the owner are answered. */
  countOthers(): Promise<number>;
  engines: Pick<EngineRegistry, 'active'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
};

const recheckMs = 10_000;

export function createSubscriptionWarning({ countOthers, engines, clock, log }: Deps): SubscriptionWarning {
  let notice: string | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;

  const of = async (engineId: string): Promise<string | null> => {
    const others = await countOthers();
    return others === 0 ? null : textOf(engineId, others);
  };
  const look = async (): Promise<void> => {
    const { auth, choice } = await engines.active();
    notice = auth === 'subscription' ? await of(choice.id) : null;
  };

  return {
    of,
    notices() {
      if (clock.elapsed() - checkedAt >= recheckMs) {
        checkedAt = clock.elapsed();
        look().catch((error: unknown) => log.warn({ err: error }, 'the people whom a subscription serves could not be counted'));
      }
      return notice === null ? [] : [notice];
    },
  };
}

const textOf = (engineId: string, others: number): string =>
  `${engineId} runs on your personal login, and ${others === 1 ? 'one other person is' : `${others} other people are`} answered by it. ` +
  'Most vendors allow a personal login for its owner alone: see docs/engines.md, or use an engine with an API key.';
