import type { ConfigSchema } from '@svc/contract/connector-meta.ts';

type Config = Record<string, unknown>;
type FieldSchema = ConfigSchema['properties'][string];
type Keywords = Readonly<Record<string, (value: never, limit: never) => boolean>>;
type PlainType = { has(value: unknown): boolean; keywords: Keywords };

const isIn = (value: unknown, limit: readonly unknown[]): boolean => limit.includes(value);
/** Types of plain fields, each with the keywords that limit its values. */
const types: Readonly<Record<string, PlainType>> = {
  string: {
    has: (value) => typeof value === 'string',
    keywords: {
      minLength: (value: string, limit: number) => Array.from(value).length >= limit,
      maxLength: (value: string, limit: number) => Array.from(value).length <= limit,
      enum: isIn,
    },
  },
  integer: {
    has: Number.isInteger,
    keywords: {
      minimum: (value: number, limit: number) => value >= limit,
      maximum: (value: number, limit: number) => value <= limit,
      enum: isIn,
    },
  },
  boolean: { has: (value) => typeof value === 'boolean', keywords: {} },
};
const describing = new Set(['type', 'title', 'description', 'default']);

/**
 * Fills the defaults into a config, and returns whether it is valid at first sight: each of its fields is a text, a whole number or a switch
 * with simple limits. Any other, valid or not, is judged by the compiler of schemas, which would take a tenth of the manager's start to load
 * and run.
 */
export function fillPlainConfig({ type, required = [], properties, ...more }: ConfigSchema, config: Config): boolean {
  if (type !== 'object' || Object.keys(more).length > 0) return false;
  for (const [name, { default: usual }] of Object.entries(properties))
    if (usual !== undefined && !Object.hasOwn(config, name)) config[name] = structuredClone(usual);
  return (
    required.every((name) => Object.hasOwn(config, name)) &&
    Object.entries(config).every(([name, value]) => isPlainlyValid(fieldOf(properties, name), value))
  );
}

/** Names and keywords come from outside, so those that every object inherits are not found. */
const fieldOf = <Field>(fields: Readonly<Record<string, Field>>, name: string): Field | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

function isPlainlyValid(field: FieldSchema | undefined, value: unknown): boolean {
  const plain = field && fieldOf(types, field.type);
  if (field === undefined || plain?.has(value) !== true) return false;
  return Object.entries(field).every(
    ([keyword, limit]) => describing.has(keyword) || fieldOf(plain.keywords, keyword)?.(value as never, limit as never) === true,
  );
}
