const units: Record<string, number> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** A size as people write it (`1024mb`, `8 MiB`, `65536`; a kilobyte has 1024 bytes) in bytes; null for anything else. */
export function parseBytes(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)\s*(?:([kmgt])?(?:i?b)?)$/i.exec(text.trim());
  const [, amount = '', unit = ''] = match ?? [];
  const factor = units[unit.toLowerCase()];
  if (match === null || factor === undefined) return null;
  const bytes = Math.floor(Number(amount) * factor);
  return Number.isSafeInteger(bytes) ? bytes : null;
}
