/** No model has a longer id. This also limits the cost of a look-up. */
const maxIdLength = 256;
const dateSuffix = /[-@](?:19|20)\d{2}(?:-\d{2}-\d{2}|\d{4})$/;

/**
 * Finds the entry with the longest name that is a prefix of an id. A date at the end of a name or an id is ignored
 * (`-20250929`, `@20250929`, `-2025-09-29`), but a name equal to the whole id, including its date, takes precedence. A `*` at
 * the end of a name is optional. Case is ignored. Of two equivalent names the later one is used.
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

/** The form in which names are compared and stored. */
export const normalName = (name: string): string => name.trim().toLowerCase();
