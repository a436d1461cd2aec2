import { boundlessPermissions } from '@svc/contract/connector-meta.ts';
import { capabilitiesSchema, ownChannels } from '@svc/contract/envelope.ts';
import { methodPattern } from '@svc/contract/instance-call.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { compileSchema, compileUnknownSchema, problemsOf } from './ajv.ts';
import { memoryMbSchema, usualSettings } from './memory-limit.ts';

const metaSchema = {
  type: 'object',
  required: ['type', 'displayName', 'supportsMultiple', 'capabilities', 'credentialKeys', 'configSchema'],
  properties: {
    type: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$' },
    displayName: { type: 'string', minLength: 1, maxLength: 100 },
    supportsMultiple: { type: 'boolean' },
    capabilities: capabilitiesSchema,
    credentialKeys: { type: 'array', items: { type: 'string' } },
    exclusive: { type: 'array', items: { type: 'string' } },
    configSchema: {
      type: 'object',
      required: ['type', 'properties'],
      properties: {
        type: { const: 'object' },
        required: { type: 'array', items: { type: 'string' } },
        properties: {
          type: 'object',
          additionalProperties: { type: 'object', required: ['type', 'title'], properties: { title: { type: 'string' } } },
        },
      },
    },
    outbound: {
      anyOf: [
        { const: false },
        {
          type: 'object',
          required: ['kinds', 'target'],
          properties: {
            kinds: { type: 'array', items: { type: 'string' } },
            target: {
              type: 'object',
              required: ['required', 'label'],
              properties: { required: { type: 'boolean' }, label: { type: 'string' } },
            },
            steers: { const: true },
          },
        },
      ],
    },
    calls: { type: 'array', maxItems: 64, uniqueItems: true, items: { type: 'string', pattern: methodPattern } },
    memory_mb: memoryMbSchema,
    packages: {
      type: 'object',
      required: ['folder', 'when'],
      additionalProperties: false,
      properties: {
        folder: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$' },
        when: { type: 'string' },
        wasm: { type: 'boolean' },
      },
    },
    webApp: { const: true },
    permissions: {
      type: 'object',
      additionalProperties: false,
      properties: {
        allow: { type: 'array', items: { enum: boundlessPermissions } },
        read: { type: 'array', items: { type: 'string' } },
        write: { type: 'array', items: { type: 'string' } },
        sessions: { const: 'every' },
      },
    },
  },
};

/** The fields of a `meta` that refer to each other. */
export type Checked = {
  type: string;
  credentialKeys: readonly string[];
  exclusive?: readonly string[];
  configSchema: { required?: readonly string[]; properties: Readonly<Record<string, unknown>> };
  permissions?: { read?: readonly string[]; write?: readonly string[] };
  packages?: { when: string };
};

/** The problems of a type's `meta`, one text each; empty if it can be used. `folder` is the name that it must have. */
export function describeMetaProblems(meta: unknown, folder: string): string[] {
  if (!isRecord(meta)) return ['it exports no "meta"'];
  const validate = compileSchema(metaSchema);
  if (!validate(meta)) return problemsOf(validate.errors ?? []).map(({ field, problem }) => `meta.${field} ${problem}`);
  const checked = meta as Checked;
  return [...describeContradictions(checked, folder), ...schemaProblem(checked.configSchema)];
}

/** The contradictions in a `meta` of valid shape: between its fields, or with its folder. */
export function describeContradictions(meta: Checked, folder: string): string[] {
  const { type, credentialKeys, exclusive = [], configSchema, permissions: { read = [], write = [] } = {}, packages } = meta;
  const isUnknown = (key: string) => !Object.hasOwn(configSchema.properties, key);
  return [
    ...(ownChannels.includes(type) ? [`"${type}" is the name of a built-in channel; choose another name`] : []),
    ...(type === folder ? [] : [`meta.type is "${type}" but its folder is "${folder}"`]),
    ...credentialKeys.filter(isUnknown).map((key) => `credentialKeys names "${key}", which configSchema does not have`),
    ...exclusive
      .filter((key) => !credentialKeys.includes(key))
      .map((key) => `exclusive names "${key}", which credentialKeys does not have`),
    ...(packages !== undefined && isUnknown(packages.when)
      ? [`packages names "${packages.when}", which configSchema does not have`]
      : []),
    ...[...read, ...write].filter(isUnknown).map((key) => `permissions names "${key}", which configSchema does not have`),
    ...(configSchema.required ?? []).filter(isUnknown).map((key) => `configSchema requires "${key}", which it does not have`),
    ...usualSettings
      .filter((key) => !isUnknown(key))
      .map((key) => `configSchema has "${key}", which every type already has; choose another name`),
  ];
}

function schemaProblem(schema: object): string[] {
  try {
    compileUnknownSchema(schema);
    return [];
  } catch (error) {
    return [`configSchema is not a JSON Schema: ${errorText(error)}`];
  }
}
