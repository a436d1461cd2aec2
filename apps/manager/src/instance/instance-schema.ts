const name = { type: 'string', minLength: 1, maxLength: 100, pattern: '\\S' } as const;
const config = { type: 'object', additionalProperties: true } as const;

/** Body of `POST /instances`. */
export const createInstanceSchema = {
  type: 'object',
  required: ['type', 'name'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', minLength: 1, maxLength: 64 },
    name,
    config: { ...config, default: {} },
    enabled: { type: 'boolean', default: false },
  },
} as const;

/** Body of `PATCH /instances/:id`. A `config` replaces the whole stored one; null resets a setting to its default. */
export const updateInstanceSchema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: { name, config, enabled: { type: 'boolean' } },
} as const;

export const instanceParamsSchema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
} as const;

export type CreateInstance = { type: string; name: string; config?: Record<string, unknown>; enabled?: boolean };
export type UpdateInstance = { name?: string; config?: Record<string, unknown>; enabled?: boolean };
