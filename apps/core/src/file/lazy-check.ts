import type { ErrorObject, ValidateFunction } from 'ajv';
import { lazyAjv } from './lazy-ajv.ts';

/** Shared, because loading and creating one costs more than compiling most schemas. */
const ajv = lazyAjv({ allErrors: true });

/** Validates data from outside. `errors` lists everything that is wrong, by field, until the next call. */
export type Check<T> = { (value: unknown): value is T; errors: ErrorObject[] | null | undefined };

/** A schema's validator, compiled on first use: most starts never see such a body. */
export function lazyCheck<T>(schema: object): Check<T> {
  let compiled: ValidateFunction<T> | null = null;
  const check = ((value: unknown) => {
    compiled ??= ajv().compile<T>(schema);
    const isValid = compiled(value);
    check.errors = compiled.errors;
    return isValid;
  }) as Check<T>;
  return check;
}
