import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { boundLengths } from '@svc/service-kit/text-lengths.ts';

/** Shared, because creating one costs more than compiling most schemas. Our own schemas are not checked against the meta-schema. */
let ajv: Ajv | null = null;

/** Validates data from outside. `errors` lists everything that is wrong, by field, until the next call. */
export type Check<T> = { (value: unknown): value is T; errors: ErrorObject[] | null | undefined };

/** A schema's validator, compiled on first use: most starts never see such a body. */
export function lazyCheck<T>(schema: object): Check<T> {
  let compiled: ValidateFunction<T> | null = null;
  const check = ((value: unknown) => {
    ajv ??= boundLengths(new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false }));
    compiled ??= ajv.compile<T>(schema);
    const isValid = compiled(value);
    check.errors = compiled.errors;
    return isValid;
  }) as Check<T>;
  return check;
}
