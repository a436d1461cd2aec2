/**
 * One text for several parts, as the key of a map or the input of a digest. Different parts never give the same text, whatever
 * characters they contain; with a separator they could.
 */
export const compositeKey = (...parts: readonly (string | number | boolean | null)[]): string => JSON.stringify(parts);
