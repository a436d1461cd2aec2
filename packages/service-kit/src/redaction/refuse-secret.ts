import { badRequest } from '../service-error.ts';
import { createRedactor } from './redactor.ts';

/** True for a text that has the form of a token or key, whether or not it is known here. */
export const looksSecret = (value: unknown): boolean => typeof value === 'string' && createRedactor([]).text(value) !== value;

/**
 * For every route that stores a secret by a name: names are listed and go on record, so the secret itself must not be one. It is not repeated.
 * @throws ServiceError `bad_request` naming the field.
 */
export function refuseSecret(name: string, field: string): void {
  if (!looksSecret(name)) return;
  const problem = 'looks like a secret, but must be the name of one';
  throw badRequest(`${field} ${problem}, such as GITHUB_TOKEN. Nothing was kept.`, { fields: [{ field, problem }] });
}
