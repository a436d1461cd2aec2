import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { Logins } from '../login/logins.ts';
import { isWebKey, type Turns } from './turns.ts';

const attachment = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 4096 },
    name: { type: 'string', maxLength: 255 },
    mime: { type: 'string', maxLength: 127 },
  },
} as const;
const turnBody = {
  type: 'object',
  additionalProperties: false,
  required: ['message_id', 'conversation_key', 'text'],
  properties: {
    message_id: { type: 'string', minLength: 8, maxLength: 128, pattern: '^[\\w-]+$' },
    conversation_key: { type: 'string', minLength: 1, maxLength: 512 },
    text: { type: 'string', maxLength: 1_000_000 },
    attachments: { type: 'array', maxItems: 32, items: attachment },
  },
} as const;
const answerBody = {
  type: 'object',
  additionalProperties: false,
  required: ['ask_id', 'option', 'conversation_key'],
  properties: {
    ask_id: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[\\w.:-]+$' },
    option: { type: 'string', minLength: 1, maxLength: 128 },
    conversation_key: { type: 'string', minLength: 1, maxLength: 512 },
  },
} as const;

type Deps = { logins: Logins; turns: Turns };

/** `/chat/*`: messages and answers of the person. The sender comes from the login, never from the browser. */
export function mountChatRoutes(app: App, { logins, turns }: Deps): void {
  app.post('/chat/turn', { schema: { body: turnBody } }, async ({ body, headers, id }, reply) => {
    const { user } = await logins.require(headers);
    const { message_id, text, conversation_key, attachments = [] } = body;
    if (!isWebKey(user, conversation_key)) throw badRequest('This conversation is on another channel. Steer it instead.');
    if (text.trim() === '' && attachments.length === 0) throw badRequest('The message is empty.');
    const turnId = await turns.say(user, { message_id, text, attachments, conversation_key }, id);
    return reply.code(202).send({ ok: true, turn_id: turnId, conversation_key });
  });

  app.post('/chat/answer', { schema: { body: answerBody } }, async ({ body, headers }) => {
    const { user } = await logins.require(headers);
    return turns.answer(user, body);
  });
}
