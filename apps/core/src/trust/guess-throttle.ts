import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

const windowMs = 60_000;
const maxWrong = 10;

/** Ten wrong codes a minute, whoever tries; then none at all is looked at until the minute is over. */
export function createGuessThrottle(clock: Clock) {
  let since = clock.elapsed();
  let wrong = 0;
  return {
    /** @throws ServiceError `busy` */
    check(): void {
      const now = clock.elapsed();
      if (now - since >= windowMs) {
        since = now;
        wrong = 0;
      }
      if (wrong < maxWrong) return;
      const seconds = Math.ceil((since + windowMs - now) / 1000);
      throw new ServiceError('busy', `${maxWrong} wrong codes within a minute. Try again in ${seconds} s.`, {
        details: { retry_after_s: seconds },
      });
    },
    wrong: (): void => void wrong++,
  };
}
