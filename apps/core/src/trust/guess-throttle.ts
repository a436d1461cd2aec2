import type { Clock } from '@svc/service-kit/clock.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

const maxWrong = 10;
const everybody = '';

export type GuessThrottle = {
  /** @throws ServiceError `busy` */
  check(): void;
  wrong(): void;
};

/** Allows ten wrong codes a minute, from all callers together; after that no code is checked until the minute is over. */
export function createGuessThrottle(clock: Clock): GuessThrottle {
  const guesses = createFixedWindow(clock, { max: maxWrong, windowMs: 60_000 });
  return {
    check() {
      const seconds = Math.ceil(guesses.waitMs(everybody) / 1000);
      if (seconds === 0) return;
      throw new ServiceError('busy', `${maxWrong} wrong codes within a minute. Try again in ${seconds} s.`, {
        details: { retry_after_s: seconds },
      });
    },
    wrong: () => void guesses.count(everybody),
  };
}
