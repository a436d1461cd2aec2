/** The longest plausible wait; a longer one is a mistake. */
const maxMs = 31 * 24 * 3_600_000;

/** The wait in a `Retry-After` header, as seconds or a date, in ms from `now`. Null when it cannot be parsed. */
export function retryAfterMs(header: string | readonly string[] | undefined, now: number): number | null {
  if (typeof header !== 'string' || header.trim() === '') return null;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isNaN(ms) ? null : Math.min(maxMs, Math.max(0, Math.ceil(ms)));
}
