import { badRequest } from '../service-error.ts';

/** The schema of query parameters that are one text each: one that is given twice, and so is a list, is a `bad_request`. */
export const queryTexts = (...names: string[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
});

/** A whole number of a query string, within bounds; the fallback when absent. Throws `bad_request` for anything else. */
export function queryInteger(name: string, value: unknown, fallback: number, min: number, max: number): number {
  if (value === undefined) return fallback;
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw badRequest(`The query parameter ${name} takes a whole number from ${min} to ${max}.`);
  return Math.min(Math.max(number, min), max);
}
