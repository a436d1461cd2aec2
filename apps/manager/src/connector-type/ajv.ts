import { Ajv, type ErrorObject } from 'ajv';
import { boundedRegExp } from './bounded-reg-exp.ts';

export type FieldProblem = { field: string; problem: string };

/** Lenient about what a type's author adds to a schema, strict about what it says; defaults are filled in. */
export const createAjv = () =>
  new Ajv({
    strict: false,
    allErrors: true,
    useDefaults: true,
    validateFormats: false,
    logger: false,
    code: { regExp: boundedRegExp },
  });

/** Every failing field with what is wrong, once each. A path is written with dots. */
export function problemsOf(errors: readonly ErrorObject[]): FieldProblem[] {
  const problems = errors.slice(0, 50).map(toProblem);
  return problems.filter(
    (problem, index) =>
      problems.findIndex((other) => other.field === problem.field && other.problem === problem.problem) === index,
  );
}

function toProblem({ instancePath, keyword, params, message }: ErrorObject): FieldProblem {
  const { missingProperty, additionalProperty, allowedValues } = params as Record<string, unknown>;
  const field = (last?: unknown) =>
    [...instancePath.split('/').slice(1), ...(last === undefined ? [] : [String(last)])].join('.');
  if (keyword === 'required') return { field: field(missingProperty), problem: 'is missing' };
  if (keyword === 'additionalProperties') return { field: field(additionalProperty), problem: 'is not a field of this type' };
  if (keyword === 'enum') return { field: field(), problem: `must be one of ${JSON.stringify(allowedValues)}` };
  return { field: field(), problem: message ?? 'is not valid' };
}
