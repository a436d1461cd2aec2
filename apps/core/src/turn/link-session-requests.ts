import type { Ajv } from 'ajv';
import { conversationKeySchema, envelopeSchema } from '@svc/contract/envelope.ts';
import type { LinkRequest, SessionRequest } from '@svc/contract/link.ts';

const { channel, sender, message_id } = envelopeSchema.properties;
const as = { type: 'object', required: ['channel', 'sender'], properties: { channel, sender } } as const;
const limit = { type: 'integer', minimum: 1, maximum: 1000 } as const;
const place = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const of = (properties: object, ...required: string[]) => ({
  type: 'object',
  required: ['as', 'conversation_key', ...required],
  properties: { as, conversation_key: conversationKeySchema, ...properties },
});

const schemas = {
  sessions: { type: 'object', required: ['as'], properties: { as, limit, before: { type: 'string', maxLength: 2048 } } },
  history: of({ limit, before: place }),
  forget: of({}),
  abort: of({}),
  inject: of(
    { text: { type: 'string', minLength: 1, maxLength: 1_000_000 }, interrupt: { type: 'boolean' }, message_id },
    'text',
  ),
  watch: of({ after: place, frames: { type: 'boolean' } }),
} satisfies Record<SessionRequest['op'], object>;

export const sessionOps = Object.keys(schemas) as SessionRequest['op'][];

export const isSessionRequest = (request: LinkRequest): request is SessionRequest => Object.hasOwn(schemas, request.op);

/** The checks of each kind of request about conversations, compiled on first use: most links never need them. */
export function sessionChecks(ajv: Ajv) {
  const made = new Map<string, ReturnType<Ajv['compile']>>();
  return ({ op }: SessionRequest) => {
    const check = made.get(op) ?? ajv.compile(schemas[op]);
    made.set(op, check);
    return check;
  };
}
