/** The longest wait that is believed; a longer one is a mistake. */
const maxMs = 31 * 24 * 3_600_000;

/** What a `Retry-After` header asks for, ms from `now`: it gives seconds or a date. Null when it says nothing that can be read. */
export function retryAfterMs(header: string | readonly string[] | undefined, now: number): number | null {
  if (typeof header !== 'string' || header.trim() === '') return null;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isNaN(ms) ? null : Math.min(maxMs, Math.max(0, Math.ceil(ms)));
}
