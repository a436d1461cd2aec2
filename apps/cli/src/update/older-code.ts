/** The migrations that a database has had, or that a version brings: names of files with their first lines. */
export type Migrations = ReadonlyMap<string, string>;

const numberOf = (name: string): number => Number(/^(\d{3})-/.exec(name)?.[1] ?? Number.NaN);
/** From which migration on code still runs on the schema that this one makes, by its first line. */
const oldestCode = (firstLine: string): number | null => {
  const found = /^-- \d{3} \(code from (\d{3}) on still runs\)/.exec(firstLine)?.[1];
  return found === undefined ? null : Number(found);
};

/**
 * Why code that knows the migrations `old` does not run on a database that has had those of `applied` too; null when it does. Each migration says by
 * itself which code still runs after it; one that says nothing is taken for one that no older code runs after.
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
