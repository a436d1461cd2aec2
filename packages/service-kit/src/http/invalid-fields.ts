import { describePattern } from './describe-pattern.ts';

/** What a validator says of one place that is wrong. */
type Failure = { keyword: string; instancePath: string; params: object; message?: string };
type Params = {
  limit?: number;
  missingProperty?: string;
  additionalProperty?: string;
  allowedValues?: unknown[];
  pattern?: string;
};

export type InvalidField = { field: string; problem: string };

const maxFields = 50;
/** The pattern of texts without control characters, as schemas write it. */
const noControl = '^[^\\u0000-\\u001f\\u007f]*$';

/** Every failing field with what is wrong there, so that a caller puts all of them right in one go. `where` is what was checked. */
export function invalidFields(failures: readonly Failure[], where: string): InvalidField[] {
  // A condition only says that one of its branches failed, which says so itself.
  return failures
    .filter(({ keyword }) => keyword !== 'if')
    .slice(0, maxFields)
    .map((failure) => toField(failure, where));
}

/** The same as one sentence without its end. */
export const fieldsText = (fields: readonly InvalidField[]): string =>
  fields.map(({ field, problem }) => `${field} ${problem}`).join('; ');

function toField({ keyword, instancePath, params, message }: Failure, where: string): InvalidField {
  const { limit, missingProperty: missing, additionalProperty: unknown, allowedValues, pattern } = params as Params;
  const own = missing ?? unknown?.slice(0, 64);
  const field = [where, ...instancePath.split('/').slice(1), ...(own === undefined ? [] : [own])].join('.');
  if (instancePath === '' && message === 'must be object') return { field, problem: 'must be a JSON object' };
  if (missing !== undefined) return { field, problem: 'is missing' };
  if (unknown !== undefined) return { field, problem: 'is not known' };
  if (allowedValues !== undefined) return { field, problem: `must be one of ${allowedValues.join(', ')}` };
  if (keyword === 'minLength') return { field, problem: limit === 1 ? 'is empty' : `takes ${limit} characters or more` };
  if (pattern === noControl) return { field, problem: 'has control characters' };
  if (pattern !== undefined) return { field, problem: describePattern(pattern) };
  return { field, problem: message ?? 'is not valid' };
}
