/** True when `version` comes after `than`. A version that is announced as unfinished (`-beta`) is never newer. */
export function isNewer(version: string, than: string): boolean {
  if (version.includes('-')) return false;
  const [a, b] = [parts(version), parts(than)];
  const differs = a.findIndex((part, place) => part !== b[place]);
  // The same three numbers: newer only than an unfinished one.
  if (differs === -1) return than.includes('-');
  return (a[differs] ?? 0) > (b[differs] ?? 0);
}

const parts = (version: string): number[] => version.split('-')[0]!.split('.').map(Number);
