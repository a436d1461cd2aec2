import { createRequire } from 'node:module';
import type * as ajvModule from 'ajv';
import { badRequest, createJsonReader, type Exchange } from '@svc/connector-kit';
import type { Schema } from '@svc/contract/schema.ts';
import { fieldsText, invalidFields } from '@svc/service-kit/http/invalid-fields.ts';
import { boundLengths } from '@svc/service-kit/text-lengths.ts';

/** A request without a body is valid where all fields are optional. */
const isWithoutBody = ({ req: { headers } }: Exchange): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;

/** Reads and validates the JSON body of a request. @throws ServiceError that names each invalid field */
export type ReadBody = <Body>(exchange: Exchange, schema: Schema) => Promise<Body>;

const mib = 1024 * 1024;
const require = createRequire(import.meta.url);

/** Each schema is compiled with the first request that needs it. */
export function createReadBody(): ReadBody {
  const readJson = createJsonReader({ bodyBytes: 4 * mib, totalBytes: 32 * mib });
  const compiled = new Map<Schema, ajvModule.ValidateFunction>();
  let ajv: ajvModule.Ajv | null = null;

  const validatorOf = (schema: Schema): ajvModule.ValidateFunction => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const { Ajv } = require('ajv') as typeof ajvModule;
    // Our own schemas need no check against the meta-schema.
    ajv ??= boundLengths(new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false }));
    const made = ajv.compile(schema as object);
    compiled.set(schema, made);
    return made;
  };

  return async <Body>(exchange: Exchange, schema: Schema) => {
    const isNeeded = typeof schema !== 'object' || 'required' in schema;
    const body = isWithoutBody(exchange) && !isNeeded ? {} : await readJson(exchange.req);
    const validate = validatorOf(schema);
    if (validate(body)) return body as Body;
    const fields = invalidFields(validate.errors ?? [], 'body');
    throw badRequest(`The request is not valid: ${fieldsText(fields)}.`, { fields });
  };
}
