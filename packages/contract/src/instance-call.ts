import type { Static } from './schema.ts';

/** The name of a method of an instance. Engines know it as the name of a tool. */
export const methodPattern = '^[a-z][a-z0-9_-]{0,47}$';

/** Longest params and longest result, characters of JSON. */
export const maxCallChars = { params: 256 * 1024, result: 1024 * 1024 } as const;
/** How long an instance may take, ms: some devices ask a person. */
export const callTimeoutMs = 60_000;

/** Body of `POST /instances/:id/call` of the manager. */
export const instanceCallSchema = {
  type: 'object',
  required: ['method'],
  additionalProperties: false,
  properties: {
    /** The device, room or chat on the channel, as in `/send` (`maxTarget`); empty where the type needs none. */
    target: { type: 'string', maxLength: 1024, pattern: '^[^\\u0000-\\u001f\\u007f]*$' },
    method: { type: 'string', pattern: methodPattern },
    params: { type: 'object' },
    /** How long to wait, ms; a minute at most and by default. */
    timeout_ms: { type: 'integer', minimum: 1, maximum: callTimeoutMs },
  },
} as const;
export type InstanceCall = Static<typeof instanceCallSchema>;

/** Its answer; anything else is an error body. */
export type InstanceCallAnswer = { ok: true; result: unknown };
