import { counted, duration } from '@svc/service-kit/words.ts';

/** When a process is started again; null when no start is planned. `failures`: exits in a row, 0 when they are not counted. */
export function nextTry(at: number | null, failures: number, now: number): string | null {
  if (at === null) return null;
  const count = failures < 2 ? '' : `ended ${counted(failures, 'time')} in a row; `;
  return `${count}${at <= now ? 'started again now' : `started again in ${duration(at - now + 999)}`}`;
}
