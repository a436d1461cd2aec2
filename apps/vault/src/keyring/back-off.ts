/** No passphrase is tried for this long after so many wrong ones in a row, ms: 1 s, 2 s, 4 s and so on up to a minute. */
const pauseMs = (failures: number): number => (failures === 0 ? 0 : Math.min(60_000, 1000 * 2 ** Math.min(failures - 1, 10)));

/** How long to wait yet, ms. A clock that was set back does not make it longer. */
export function waitMs(failures: number, failedAt: number, now: number): number {
  const pause = pauseMs(failures);
  return Math.min(pause, Math.max(0, failedAt + pause - now));
}
