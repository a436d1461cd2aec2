/**
 * One text for several parts: the key of a map, or what a digest is made of. Other parts never give the same text, whatever
 * characters are in them; a sign between the parts could be part of one.
 */
export const compositeKey = (...parts: readonly (string | number | boolean | null)[]): string => JSON.stringify(parts);
