import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CoreContext } from '../context.ts';

const resolveBody = {
  type: 'object',
  required: ['channel', 'sender'],
  properties: {
    channel: { type: 'string', minLength: 1, maxLength: 32 },
    sender: {
      type: 'object',
      required: ['raw_id'],
      properties: { raw_id: { type: 'string', minLength: 1, maxLength: 256 }, raw_username: { type: 'string' } },
    },
    context: {
      type: 'object',
      properties: { conversation_key: { type: 'string' }, public: { type: 'boolean' } },
    },
  },
} as const;

/** `POST /trust/resolve`: effective trust of a sender, without a turn (spec: Trust framework routes). */
export function mountTrustRoutes(app: App, { trust }: Pick<CoreContext, 'trust'>): void {
  app.post('/trust/resolve', { schema: { body: resolveBody } }, ({ body }) =>
    trust.resolve({
      channel: body.channel,
      sender: body.sender,
      public: body.context?.public,
      conversation_key: body.context?.conversation_key ?? '',
    }),
  );
}
