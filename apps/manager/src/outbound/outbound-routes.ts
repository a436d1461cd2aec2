import type { IncomingHttpHeaders } from 'node:http';
import { instanceCallSchema, maxCallChars } from '@svc/contract/instance-call.ts';
import { announceSchema, sendSchema, toggleChannelSchema } from '@svc/contract/send.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { instanceParamsSchema } from '../instance/instance-schema.ts';
import type { Announcer } from './announcer.ts';
import type { ChannelProxy } from './channel-proxy.ts';
import type { InstanceCaller } from './instance-caller.ts';
import type { SendKey, SendService } from './send-service.ts';

type Deps = { sender: SendService; announcer: Announcer; channels: ChannelProxy; caller: InstanceCaller };

const params = instanceParamsSchema;

export function mountOutboundRoutes(app: App, { sender, announcer, channels, caller }: Deps): void {
  app.post('/send', { schema: { body: sendSchema } }, (request) => sender.send(request.body, sendKey(request.headers)));
  app.get('/send/targets', async () => ({ targets: await sender.targets() }));
  app.post(
    '/instances/:id/call',
    { schema: { params, body: instanceCallSchema }, bodyLimit: maxCallChars.params },
    (request, reply) => {
      const left = new AbortController();
      reply.raw.once('close', () => left.abort());
      return caller.call(request.params.id, request.body, left.signal);
    },
  );
  app.post('/announce', { schema: { body: announceSchema } }, async (request) => {
    const { id, instance_id, expires_at } = await announcer.announce(request.body);
    return { ok: true, id, instance_id, queued: true, expires_at };
  });
  app.get('/instances/:id/channels', { schema: { params } }, (request) => channels.list(request.params.id));
  app.post('/instances/:id/channels', { schema: { params, body: toggleChannelSchema } }, (request) =>
    channels.toggle(request.params.id, request.body),
  );
}

function sendKey(headers: IncomingHttpHeaders): SendKey | null {
  const key = idempotencyKey(headers['idempotency-key']);
  const text = headers['idempotency-text'];
  if (text !== undefined && text !== 'may-change')
    throw badRequest('The header Idempotency-Text must be "may-change" or absent.');
  return key === null ? null : { key, anyContent: text !== undefined };
}

function idempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw badRequest('The header Idempotency-Key must have 1 to 255 visible ASCII characters.');
}
