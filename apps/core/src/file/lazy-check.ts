import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type * as ajvModule from 'ajv';
import { lazily } from '@svc/service-kit/lazily.ts';
import { boundLengths } from '@svc/service-kit/text-lengths.ts';

const require = createRequire(import.meta.url);

/** Shared, because loading and creating one costs more than compiling most schemas. Our own schemas are not checked against the meta-schema. */
const ajv = lazily(() => {
  const { Ajv } = require('ajv') as typeof ajvModule;
  return boundLengths(new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false }));
});

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
