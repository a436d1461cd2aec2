import { describePattern } from './describe-pattern.ts';

/** One failure of a validator. */
export type Failure = { keyword: string; instancePath: string; schemaPath?: string; params: object; message?: string };
type Params = {
  limit?: number;
  type?: string;
  missingProperty?: string;
  additionalProperty?: string;
  allowedValue?: unknown;
  allowedValues?: unknown[];
  pattern?: string;
};

export type InvalidField = { field: string; problem: string };

const maxFields = 50;
/** These only report that their branches failed, which are reported themselves. */
const ofBranches = new Set(['if', 'anyOf']);
/** The pattern of texts without control characters, as schemas write it. */
const noControl = '^[^\\u0000-\\u001f\\u007f]*$';

/** Every invalid field with its problem, so that a caller can correct all at once. `where` is the part of the request that was checked. */
export function invalidFields(failures: readonly Failure[], where: string): InvalidField[] {
  const first = failures.slice(0, 10 * maxFields);
  const choices = first.filter(({ keyword }) => keyword === 'anyOf');
  const isOfChoice = ({ keyword, schemaPath = '' }: Failure) =>
    keyword === 'required' && choices.some((choice) => schemaPath.startsWith(`${choice.schemaPath}/`));
  return first
    .filter((failure) => !ofBranches.has(failure.keyword) && !isOfChoice(failure))
    .map((failure) => toField(failure, where))
    .concat(choices.flatMap((choice) => oneOfNames(choice, first.filter(isOfChoice), where)))
    .slice(0, maxFields);
}

/** The same as one sentence without the full stop; duplicates are removed. */
export const fieldsText = (fields: readonly InvalidField[]): string =>
  [...new Set(fields.map(({ field, problem }) => `${field} ${problem}`))].join('; ');

/** A choice of fields, of which one is required. */
function oneOfNames({ schemaPath, instancePath }: Failure, missing: readonly Failure[], where: string): InvalidField[] {
  const names = missing
    .filter((each) => each.schemaPath?.startsWith(`${schemaPath}/`))
    .map(({ params }) => (params as Params).missingProperty);
  return names.length === 0 ? [] : [{ field: fieldAt(where, instancePath), problem: `needs ${names.join(' or ')}` }];
}

function toField(failure: Failure, where: string): InvalidField {
  const { instancePath, params } = failure;
  const { missingProperty: missing, additionalProperty: unknown } = params as Params;
  const field = fieldAt(where, instancePath, missing ?? unknown?.slice(0, 64));
  if (missing !== undefined) return { field, problem: 'is missing' };
  if (unknown !== undefined) return { field, problem: 'is not known' };
  if (instancePath === '' && failure.message === 'must be object') return { field, problem: 'must be a JSON object' };
  return { field, problem: problemOf(failure) };
}

const fieldAt = (where: string, instancePath: string, last?: string): string =>
  [where, ...instancePath.split('/').slice(1), ...(last === undefined ? [] : [last])].join('.');

/** The problem of a value, as text for a person. */
export function problemOf({ keyword, params, message = 'is not valid' }: Omit<Failure, 'instancePath'>): string {
  const { limit, type = '', allowedValue, allowedValues, pattern } = params as Params;
  if (allowedValues !== undefined) return `must be one of ${allowedValues.join(', ')}`;
  if (pattern === noControl) return 'has control characters';
  if (pattern !== undefined) return describePattern(pattern);
  switch (keyword) {
    case 'minLength':
      return limit === 1 ? 'is empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `is longer than ${limit} characters`;
    case 'minItems':
    case 'minProperties':
      return limit === 1 ? 'is empty' : `must have at least ${limit} items`;
    case 'maxItems':
    case 'maxProperties':
      return `has more than ${limit} items`;
    case 'minimum':
      return `must be ${limit} or more`;
    case 'maximum':
      return `must be ${limit} or less`;
    case 'uniqueItems':
      return 'has an item twice';
    case 'const':
      return `must be ${JSON.stringify(allowedValue)}`;
    case 'type':
      return Object.hasOwn(typeNames, type) ? `must be ${typeNames[type]}` : message;
    default:
      return message;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};
