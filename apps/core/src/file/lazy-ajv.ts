import { createRequire } from 'node:module';
import type * as ajvModule from 'ajv';
import { lazily } from '@svc/service-kit/lazily.ts';
import { boundLengths } from '@svc/service-kit/text-lengths.ts';

const require = createRequire(import.meta.url);

/** Ajv for our own schemas, which are valid: it is loaded and created on first use, and does not check them against the meta-schema. */
export const lazyAjv = (options: Pick<ajvModule.Options, 'allErrors'> = {}): (() => ajvModule.Ajv) =>
  lazily(() => {
    const { Ajv } = require('ajv') as typeof ajvModule;
    return boundLengths(new Ajv({ strict: false, meta: false, validateSchema: false, ...options }));
  });
