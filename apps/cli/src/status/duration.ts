import { counted, duration } from '@svc/service-kit/words.ts';

/** When a process is tried again; null when it does not wait for that. `failures`: ends in a row, 0 where nobody counts. */
export function nextTry(at: number | null, failures: number, now: number): string | null {
  if (at === null) return null;
  const count = failures < 2 ? '' : `ended ${counted(failures, 'time')} in a row; `;
  return `${count}${at <= now ? 'started again now' : `started again in ${duration(at - now + 999)}`}`;
}
