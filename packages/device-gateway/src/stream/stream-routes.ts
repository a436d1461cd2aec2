import { badRequest, type Exchange, type Route } from '@svc/connector-kit';
import { openSseStream, type SseStream } from '@svc/service-kit/http/sse-stream.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import { admit } from '../device/holder.ts';
import { askerOf, ownKey, queryOf, type Gateway } from '../gateway.ts';
import type { OwnWatches } from './own-watches.ts';
import { eventOf } from './to-stream-frame.ts';
import { watchConversation } from './watch-conversation.ts';
import { watchHolder } from './watch-holder.ts';

/** `GET /gw/stream` and `GET /gw/control`: what a connected device reads. */
export function createStreamRoutes(gateway: Gateway, watches: OwnWatches): Route[] {
  const { ctx, clock, links } = gateway;

  /** `conversation`: that it shows; null for the link that receives commands. */
  function open(exchange: Exchange, device: DeviceRecord, conversation: string | null): SseStream {
    exchange.res.setHeader('connection', 'close');
    const stream = openSseStream(exchange.res, { requestId: exchange.requestId, clock });
    const kind = conversation === null ? 'control' : 'stream';
    links.add(device.device_id, { kind, stream, token: device.token_sha256, conversation });
    const end = () => stream.close();
    exchange.stopping.addEventListener('abort', end);
    stream.signal.addEventListener('abort', () => exchange.stopping.removeEventListener('abort', end));
    return stream;
  }

  const ready = ({ device_id: id, name }: DeviceRecord) =>
    ({ type: 'ready', device: { id, name }, assistant: ctx.assistantName, server_time: clock.now() }) as const;

  async function serveStream(exchange: Exchange): Promise<void> {
    const device = gateway.authenticate(exchange);
    const own = ownKey(gateway, device);
    const key = queryOf(exchange, 'conversation_key') ?? own;
    const after = placeOf(exchange);
    await checkReader(gateway, device, key);
    const stream = open(exchange, device, key);
    stream.send(eventOf({ ...ready(device), conversation_key: key, gap: false }));
    const watch = watchConversation({
      sessions: ctx.core.sessions,
      as: askerOf(gateway, device),
      key,
      isOwn: key === own,
      after,
      clock,
      // A frame without content is still sent as an event, so that readers know from where to continue.
      onFrame: (frame, place) => stream.send(eventOf(frame ?? { type: 'place' }, place)),
      onEnd: () => stream.close(),
    });
    const leave = watches.add(key, { ...watch, tell: (frame) => stream.send(eventOf(frame)) });
    stream.signal.addEventListener('abort', () => {
      leave();
      watch.end();
    });
  }

  return [
    {
      method: 'GET',
      path: '/gw/stream',
      doc: { summary: 'Events of a conversation (SSE)', needsKey: true },
      handle: serveStream,
    },
    {
      method: 'GET',
      path: '/gw/control',
      doc: { summary: 'Calls to the device (SSE)', needsKey: true },
      async handle(exchange) {
        const device = gateway.authenticate(exchange);
        await admit(gateway, device);
        const stream = open(exchange, device, null);
        stream.send(eventOf(ready(device)));
        watchHolder(gateway, device, stream);
      },
    },
  ];
}

/** The position from which a reader continues; null for a new one. */
function placeOf({ req }: Exchange): number | null {
  const given = req.headers['last-event-id'];
  if (typeof given !== 'string' || given === '') return null;
  const place = Number(given);
  if (!Number.isSafeInteger(place) || place < 1) throw badRequest('Last-Event-ID must be the id of an event of this stream.');
  return place;
}

/** Runs before the stream opens, so that a refusal is a normal answer. @throws ServiceError of the core */
async function checkReader(gateway: Gateway, device: DeviceRecord, key: string): Promise<void> {
  const { core } = gateway.ctx;
  const as = askerOf(gateway, device);
  if (key !== ownKey(gateway, device)) return void (await core.sessions.history(as, key, { limit: 1 }));
  await admit(gateway, device);
}
