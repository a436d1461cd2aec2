import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type * as ajvModule from 'ajv';
import { createContext, Script } from 'node:vm';
import { problemOf } from '@svc/service-kit/http/invalid-fields.ts';

export type FieldProblem = { field: string; problem: string };

const require = createRequire(import.meta.url);
let unchecked: Ajv | null = null;
let checking: Ajv | null = null;

/** The check of a schema that is known to be valid: lenient about what a type's author adds to it, strict about what it says; defaults are filled in. */
export const compileSchema = (schema: object): ValidateFunction =>
  compileWith((unchecked ??= createAjv({ meta: false, validateSchema: false })), schema);

/**
 * The same for a schema that others wrote. Checking the schema itself costs more than compiling it.
 * @throws when it is no JSON Schema.
 */
export const compileUnknownSchema = (schema: object): ValidateFunction => compileWith((checking ??= createAjv()), schema);

/** One instance compiles all, and forgets each afterwards: the next version of a type comes with the same `$id`. */
function compileWith(ajv: Ajv, schema: object): ValidateFunction {
  try {
    return ajv.compile(schema);
  } finally {
    ajv.removeSchema(schema);
  }
}

/** Loaded with the first schema: most starts check none. */
function createAjv(options: ajvModule.Options = {}): Ajv {
  const { Ajv } = require('ajv') as typeof ajvModule;
  return new Ajv({
    ...options,
    strict: false,
    allErrors: true,
    useDefaults: true,
    validateFormats: false,
    logger: false,
    code: { regExp: boundedRegExp },
  });
}

/** Every failing field with what is wrong, once each. A path is written with dots. */
export function problemsOf(errors: readonly ErrorObject[]): FieldProblem[] {
  const problems = errors.slice(0, 50).map(toProblem);
  return problems.filter(
    (problem, index) =>
      problems.findIndex((other) => other.field === problem.field && other.problem === problem.problem) === index,
  );
}

function toProblem(error: ErrorObject): FieldProblem {
  const { instancePath, keyword, params } = error;
  const { missingProperty, additionalProperty, allowedValues } = params as Record<string, unknown>;
  const field = (last?: unknown) =>
    [...instancePath.split('/').slice(1), ...(last === undefined ? [] : [String(last)])].join('.');
  if (keyword === 'required') return { field: field(missingProperty), problem: 'is missing' };
  if (keyword === 'additionalProperties') return { field: field(additionalProperty), problem: 'is not a field of this type' };
  if (keyword === 'enum') return { field: field(), problem: `must be one of ${JSON.stringify(allowedValues)}` };
  return { field: field(), problem: problemOf(error) };
}

/** More than any pattern for a field needs; one that is made to never end holds up nobody longer. */
const limitMs = 100;

const context = createContext({ pattern: null, text: '' });
const match = new Script('pattern.test(text)');

/** What this thread has worked, ms. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function matchInTime(pattern: RegExp, text: string): boolean | 'timeout' {
  Object.assign(context, { pattern, text });
  try {
    return match.runInContext(context, { timeout: limitMs }) === true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'timeout';
    throw error;
  }
}

/** A pattern for Ajv: a connector type that was added brings its own. A text that it does not decide on in time does not match. */
const boundedRegExp = Object.assign(
  (source: string, flags: string) => {
    const pattern = new RegExp(source, flags);
    return {
      test(text: string): boolean {
        const until = workedMs() + limitMs;
        // On a busy machine the time of day runs out without any work done: then it is tried again.
        do {
          const result = matchInTime(pattern, text);
          if (result !== 'timeout') return result;
        } while (workedMs() < until);
        return false;
      },
      // Ajv distinguishes patterns by it.
      toString: () => String(pattern),
    };
  },
  { code: 'boundedRegExp' },
);
