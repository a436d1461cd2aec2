/** Two units at most: `42 s`, `3 min`, `2 h 5 min`, `4 d 1 h`. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min`;
  const h = Math.floor(min / 60);
  return h < 24 ? `${h} h ${min % 60} min` : `${Math.floor(h / 24)} d ${h % 24} h`;
}

/** When a process is tried again; null when it does not wait for that. `failures`: ends in a row, 0 where nobody counts. */
export function nextTry(at: number | null, failures: number, now: number): string | null {
  if (at === null) return null;
  const count = failures < 2 ? '' : `ended ${failures} times in a row; `;
  return `${count}${at <= now ? 'started again now' : `started again in ${duration(at - now + 999)}`}`;
}
