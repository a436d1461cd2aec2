import type { FromSchema as Infer, JSONSchema } from 'json-schema-to-ts';

/** A JSON Schema literal. Shapes are written once as plain data: it validates, documents (OpenAPI) and types. */
export type Schema = JSONSchema;

/** The TypeScript type a schema literal describes. */
export type Static<S extends JSONSchema> = Infer<S>;
