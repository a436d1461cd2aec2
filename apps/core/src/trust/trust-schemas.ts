import { channelPattern, conversationKeySchema } from '@svc/contract/envelope.ts';
import { askPolicies, tiers, toolPolicies } from '@svc/contract/trust.ts';
import { principalKeyPattern } from './identifier-value.ts';

const surface = { type: 'string', pattern: channelPattern } as const;
const displayName = { type: 'string', minLength: 1, maxLength: 80, pattern: '\\S' } as const;
const notes = { type: 'string', maxLength: 2000 } as const;
export const time = { type: ['integer', 'null'], minimum: 0, maximum: 8_640_000_000_000_000 } as const;

/** A list of names, or all of them. */
const listOf = <const Item>(items: Item, minItems: number) =>
  ({ anyOf: [{ const: '*' }, { type: 'array', minItems, maxItems: 200, uniqueItems: true, items }] }) as const;
const toolServers = listOf({ type: 'string', pattern: '^[a-z0-9_-]{1,64}$' }, 0);

/** Unknown fields are refused: a typo in a field's name would leave a right wider than intended. */
const strict = { type: 'object', additionalProperties: false } as const;

/** Where a grant applies: everywhere by default. */
export const grantScope = { ...strict, properties: { surface, conversation_key: conversationKeySchema } } as const;

export const principalBody = {
  ...strict,
  required: ['key', 'display_name'],
  properties: {
    key: { type: 'string', pattern: principalKeyPattern },
    display_name: displayName,
    bypass_moderation: { type: 'boolean' },
    notes,
  },
} as const;

export const principalPatch = {
  ...strict,
  minProperties: 1,
  properties: {
    display_name: displayName,
    status: { enum: ['active', 'disabled'] },
    bypass_moderation: { type: 'boolean' },
    notes,
  },
} as const;

export const identifierBody = {
  ...strict,
  required: ['surface', 'value'],
  properties: {
    surface,
    value: { type: 'string', minLength: 1, maxLength: 256 },
    from: { type: 'string', minLength: 1, maxLength: 128, description: 'id of the principal that has it now' },
  },
} as const;

export const roleBody = {
  ...strict,
  required: ['name', 'tier', 'tool_policy'],
  properties: {
    name: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' },
    tier: { enum: tiers },
    tool_policy: { enum: toolPolicies },
    surfaces: listOf(surface, 1),
    tool_servers: toolServers,
    asks: { enum: askPolicies },
    description: { type: 'string', maxLength: 500 },
  },
} as const;

export const grantBody = {
  ...strict,
  required: ['role_id'],
  properties: {
    role_id: { type: 'string', minLength: 1, maxLength: 128, description: 'id or name of a role' },
    scope: grantScope,
    expires_at: time,
  },
} as const;

export const toolServersBody = { ...strict, required: ['tool_servers'], properties: { tool_servers: toolServers } } as const;

/**
 * The parts of an envelope that matter for trust; `public` and `conversation_key` may be in it or in `context`. Any surface
 * and name get an answer, if only a denial.
 */
export const resolveBody = {
  type: 'object',
  required: ['channel', 'sender'],
  properties: {
    channel: { type: 'string', maxLength: 256 },
    sender: { type: 'object', required: ['raw_id'], properties: { raw_id: { type: 'string', maxLength: 256 } } },
    public: { type: 'boolean' },
    conversation_key: { type: 'string', maxLength: 512 },
    context: {
      type: 'object',
      properties: { conversation_key: { type: 'string', maxLength: 512 }, public: { type: 'boolean' } },
    },
    explain: { type: 'boolean' },
  },
} as const;
