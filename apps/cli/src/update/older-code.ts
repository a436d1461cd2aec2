/** The migrations that were applied to a database, or that a version contains: file names with their first lines. */
export type Migrations = ReadonlyMap<string, string>;

const numberOf = (name: string): number => Number(/^(\d{3})-/.exec(name)?.[1] ?? Number.NaN);
/** Reads, from its first line, the oldest migration whose code still works with the schema after this one. */
const oldestCode = (firstLine: string): number | null => {
  const found = /^-- \d{3} \(code from (\d{3}) on still runs\)/.exec(firstLine)?.[1];
  return found === undefined ? null : Number(found);
};

/**
 * Why code with the migrations `old` does not work on a database that also has those of `applied`; null when it does. Each migration declares
 * which older code still works after it; without a declaration, none does.
 */
export function whyNotOnNewer(old: Iterable<string>, applied: Migrations): string | null {
  const known = new Set(old);
  const newest = Math.max(0, ...Array.from(known, numberOf));
  for (const [name, firstLine] of applied) {
    if (known.has(name)) continue;
    const from = oldestCode(firstLine);
    if (from === null) return `${name} does not say that older code still runs after it`;
    if (newest < from)
      return `${name} needs code that has migration ${String(from).padStart(3, '0')}, and the older one ends at ${String(newest).padStart(3, '0')}`;
  }
  return null;
}
