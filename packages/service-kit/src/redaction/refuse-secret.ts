import { badRequest } from '../service-error.ts';
import { createRedactor } from './redactor.ts';

/** True for a text that has the form of a token or key, known or not. */
export const looksSecret = (value: unknown): boolean => typeof value === 'string' && createRedactor([]).text(value) !== value;

/**
 * For every route that stores a secret under a name: names are listed and recorded, so a secret must not be used as one. The
 * error does not repeat it.
 * @throws ServiceError `bad_request` naming the field.
 */
export function refuseSecret(name: string, field: string): void {
  if (!looksSecret(name)) return;
  const problem = 'looks like a secret, but must be the name of one';
  throw badRequest(`${field} ${problem}, such as GITHUB_TOKEN. Nothing was stored.`, { fields: [{ field, problem }] });
}
