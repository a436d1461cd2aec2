import { badRequest } from '../service-error.ts';
import { fieldsText } from './invalid-fields.ts';

/** A whole number of a query string, clamped to the range; the fallback if absent. Throws `bad_request` for anything else. */
export function queryInteger(name: string, value: unknown, fallback: number, min: number, max: number): number {
  if (value === undefined) return fallback;
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw badRequest(`The query parameter ${name} must be a whole number from ${min} to ${max}.`);
  return Math.min(Math.max(number, min), max);
}

const maxNamed = 50;

/** Refuses repeated parameters, which would reach the route as a list. @throws ServiceError `bad_request` that names each. */
export function refuseRepeated(query: object): void {
  const repeated = Object.entries(query).filter(([, value]) => Array.isArray(value));
  if (repeated.length === 0) return;
  const fields = repeated
    .slice(0, maxNamed)
    .map(([name]) => ({ field: `querystring.${name.slice(0, 64)}`, problem: 'is given more than once' }));
  throw badRequest(`The request is not valid: ${fieldsText(fields)}.`, { fields });
}
