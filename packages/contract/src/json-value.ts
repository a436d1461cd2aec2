/** A JSON object: neither null nor an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The value of a JSON text; null for what is no JSON, as for the text `null`. For callers that check the value anyway: the parser's own
 * message is dropped, since it quotes the text.
 */
export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The object of a JSON text; null for what is none. */
export function parseRecordOrNull(text: string): Record<string, unknown> | null {
  const value = parseJsonOrNull(text);
  return isRecord(value) ? value : null;
}

/** Whether a value has lists and objects in each other on more levels. No deeper than it has to look, or the look itself could overflow. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
