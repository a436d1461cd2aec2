/** Longer ids are no model's. It also bounds what a look-up costs. */
const maxIdLength = 256;
const dateSuffix = /[-@](?:19|20)\d{2}(?:-\d{2}-\d{2}|\d{4})$/;

/**
 * Finds what stands under the longest name that an id begins with. A date at the end of a name or an id does not count
 * (`-20250929`, `@20250929`, `-2025-09-29`), but a name that is the whole id, date included, goes first. A `*` at the
 * end of a name only says in writing that it is a beginning. Upper and lower case are the same. Of two names that mean the
 * same the later one counts.
 */
export function createNameIndex<T>(entries: Iterable<readonly [string, T]>): (id: string) => T | null {
  const named = new Map<string, T>();
  for (const [name, value] of entries) named.set(normalName(name).replace(/\*$/, ''), value);
  const byStart = new Map(named);
  for (const [name, value] of named) {
    const undated = name.replace(dateSuffix, '');
    if (!named.has(undated)) byStart.set(undated, value);
  }
  return (id) => {
    const whole = named.get(normalName(id));
    if (whole !== undefined) return whole;
    const undated = normalName(id).replace(dateSuffix, '');
    for (let length = Math.min(undated.length, maxIdLength); length >= 0; length--) {
      const found = byStart.get(undated.slice(0, length));
      if (found !== undefined) return found;
    }
    return null;
  };
}

/** How names are compared and kept. */
export const normalName = (name: string): string => name.trim().toLowerCase();
