import { hash, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { isRecord } from '@svc/contract/json-value.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { errorText, ServiceError, unavailable, upstream, badRequest } from '@svc/service-kit/service-error.ts';
import type { Outbound, StartContext } from '../connector.ts';
import { sendJson, type Exchange, type Reply } from '../http/exchange.ts';
import { createJsonReader } from '../http/read-json.ts';
import type { Route } from '../http/route-table.ts';
import { createCallServer } from './serve-call.ts';
import { createOutboundSender } from './outbound-sender.ts';
import { openSentIds } from './sent-ids.ts';
import type { About, OutboundMessage, ToggleChannel } from '@svc/contract/send.ts';

export type OutboundContext = Pick<StartContext, 'outboundAccess' | 'dataDir' | 'log' | 'signal'>;

/** Header by which the answering process proves that the manager started it. */
export const proofHeader = 'x-svc-child';

const mib = 1024 * 1024;

/**
 * `POST /out`, `POST /call` and `GET|POST /channels`, for the manager alone. A connector that mounts them on a server of its own, which
 * must listen on loopback, must not return `send` from `start`, or the kit would serve them a second time.
 */
export function createOutboundRoutes(ctx: OutboundContext, outbound: Outbound, clock: Clock = systemClock): Route[] {
  const { outboundAccess, dataDir, log } = ctx;
  const readJson = createJsonReader({ bodyBytes: 8 * mib, totalBytes: 64 * mib });
  const sent = openSentIds(path.join(dataDir, 'sent-ids'), log);
  const sender = outbound.send === undefined ? null : createOutboundSender({ send: outbound.send.bind(outbound), sent, clock });
  const call = outbound.call === undefined ? null : createCallServer(outbound.call.bind(outbound), clock);
  const serve = (answer: (exchange: Exchange) => Promise<object>) => (exchange: Exchange) => reply(exchange, ctx, answer);
  outboundAccess.onMount(async () => sender?.drain());

  return [
    {
      method: 'POST',
      path: '/out',
      doc: { summary: 'Sends a message from the manager to the channel', needsKey: true },
      handle: serve(async ({ req }) => {
        if (sender === null) throw unsupported('does not support sending messages');
        const body = await readJson(req);
        const message = parseOutboundMessage(body);
        noteTicket(body, message, outboundAccess);
        return { ok: true, id: message.id, ...(await sender.send(message)) };
      }),
    },
    {
      method: 'POST',
      path: '/call',
      doc: { summary: 'Runs a call of the manager on the channel', needsKey: true },
      handle: serve(async (exchange) => {
        if (call === null) throw unsupported('does not support calls');
        return call(exchange, await readJson(exchange.req));
      }),
    },
    {
      method: 'GET',
      path: '/channels',
      doc: { summary: 'The channels this instance can reach', needsKey: true },
      handle: serve(async () => {
        if (outbound.channels === undefined) throw unsupported('has no list of channels');
        return { channels: await outbound.channels() };
      }),
    },
    {
      method: 'POST',
      path: '/channels',
      doc: { summary: 'Turns a channel on or off', needsKey: true },
      handle: serve(async ({ req }) => {
        if (outbound.toggleChannel === undefined) throw unsupported('has no channels to turn on or off');
        const { channel_id, enabled } = parseToggle(await readJson(req));
        return { ok: true, channel: await outbound.toggleChannel(channel_id, enabled) };
      }),
    },
  ];
}

/** Renders errors itself: the manager reads them, not the channel's clients, for whom the server's own renderer is meant. */
async function reply(
  exchange: Exchange,
  { outboundAccess, signal, log }: OutboundContext,
  answer: (exchange: Exchange) => Promise<object>,
): Promise<void> {
  try {
    checkToken(exchange, outboundAccess.token);
    exchange.res.setHeader(proofHeader, outboundAccess.proof);
    if (signal.aborted) throw unavailable('The connector is stopping.');
    sendJson(exchange, { status: 200, body: JSON.stringify(await answer(exchange)) });
  } catch (error) {
    if (!(error instanceof ServiceError)) log('warn', 'the channel did not accept the message', { error: errorText(error) });
    sendJson(exchange, toReply(exchange, error instanceof ServiceError ? error : upstream(errorText(error), error)));
  }
}

function checkToken({ req }: Exchange, token: string): void {
  const given = req.headers.authorization ?? '';
  if (!timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer')))
    throw new ServiceError('unauthorized', 'Only the manager may call this route. Use POST /send of the manager.');
}

const unsupported = (what: string) => new ServiceError('not_found', `This connector ${what}.`);

function toReply({ requestId }: Exchange, error: ServiceError): Reply {
  const retryAfter = error.details['retry_after_s'];
  const headers: Record<string, string> = {};
  if (typeof retryAfter === 'number') headers['retry-after'] = String(Math.ceil(retryAfter));
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  return { status: error.status, headers, body: JSON.stringify(error.toBody(requestId)) };
}

/** A message sent to `/out`. The manager is trusted, so only what a mix-up could break is checked. Throws `bad_request`. */
function parseOutboundMessage(value: unknown): OutboundMessage {
  const { id, target, kind, text, path, caption, about } = toRecord(value);
  if (typeof id !== 'string' || !/^[\w.:-]{1,200}$/.test(id))
    throw badRequest('"id" must have 1 to 200 letters, digits or any of _ . : -');
  if (typeof target !== 'string' || typeof kind !== 'string') throw badRequest('"target" and "kind" must be strings.');
  for (const [name, part] of Object.entries({ text, path, caption }))
    if (part !== undefined && typeof part !== 'string') throw badRequest(`"${name}" must be a string.`);
  // The cast: checked just above.
  return { id, target, kind, text, path, caption, about: parseAbout(about) } as OutboundMessage;
}

/** Passes on the ticket with which `uploads.open` can open the file of a message. */
function noteTicket(body: unknown, { path }: OutboundMessage, { onTicket }: OutboundContext['outboundAccess']): void {
  const { ticket } = toRecord(body);
  if (path !== undefined && typeof ticket === 'string') onTicket?.(path, ticket);
}

/** Throws `bad_request`. */
function parseAbout(value: unknown): About | undefined {
  if (value === undefined) return undefined;
  const { turn_id, message_id } = toRecord(value);
  const isName = (name: unknown) => typeof name === 'string' && name !== '';
  if (!isName(turn_id) || !(message_id === undefined || isName(message_id))) throw badRequest('"about" must name a turn.');
  return { turn_id, message_id } as About; // checked just above
}

/** Throws `bad_request`. */
function parseToggle(value: unknown): ToggleChannel {
  const { channel_id, enabled } = toRecord(value);
  if (typeof channel_id !== 'string' || typeof enabled !== 'boolean')
    throw badRequest('Send { "channel_id": "…", "enabled": true } or false.');
  return { channel_id, enabled };
}

function toRecord(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw badRequest('Send a JSON object.');
  return value;
}
