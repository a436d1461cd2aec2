import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type * as ajvModule from 'ajv';
import { createContext, Script } from 'node:vm';
import { problemOf } from '@svc/service-kit/http/invalid-fields.ts';

export type FieldProblem = { field: string; problem: string };

const require = createRequire(import.meta.url);
let unchecked: Ajv | null = null;
let checking: Ajv | null = null;

/** Compiles a schema that is known to be valid. Unknown keywords are allowed; validating fills in defaults. */
export const compileSchema = (schema: object): ValidateFunction =>
  compileWith((unchecked ??= createAjv({ meta: false, validateSchema: false })), schema);

/**
 * The same for a schema that an operator's connector brings. Checking the schema itself costs more than compiling it.
 * @throws when it is not a valid JSON Schema.
 */
export const compileUnknownSchema = (schema: object): ValidateFunction => compileWith((checking ??= createAjv()), schema);

/** One Ajv compiles all schemas, and forgets each one afterwards: the next version of a type has the same `$id`. */
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

/** Every failing field with its problem, without duplicates. A path is written with dots. */
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

/** More than any pattern for a field needs. A pattern that would run forever blocks the process no longer than this. */
const limitMs = 100;

const context = createContext({ pattern: null, text: '' });
const match = new Script('pattern.test(text)');

/** CPU time of this thread, ms. */
function cpuMs(): number {
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

/** A pattern for Ajv with a time limit, because added connector types bring their own. A text on which it does not decide in time does not match. */
const boundedRegExp = Object.assign(
  (source: string, flags: string) => {
    const pattern = new RegExp(source, flags);
    return {
      test(text: string): boolean {
        const until = cpuMs() + limitMs;
        // On a busy machine the timeout can pass without any CPU time spent; then the match is tried again.
        do {
          const result = matchInTime(pattern, text);
          if (result !== 'timeout') return result;
        } while (cpuMs() < until);
        return false;
      },
      // Ajv uses it to distinguish patterns.
      toString: () => String(pattern),
    };
  },
  { code: 'boundedRegExp' },
);
