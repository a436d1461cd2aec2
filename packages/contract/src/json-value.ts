/** A JSON object: neither null nor an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The value of a JSON text; null for invalid JSON, as for the text `null`. For callers that check the value anyway. The parser's
 * own message is dropped, because it quotes the text.
 */
export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The object of a JSON text; null for anything else. */
export function parseRecordOrNull(text: string): Record<string, unknown> | null {
  const value = parseJsonOrNull(text);
  return isRecord(value) ? value : null;
}

/** Whether a value is nested more deeply than `levels`. It stops at that depth, or it could overflow the stack itself. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
