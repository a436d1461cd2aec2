import { badRequest, CoreError, type Exchange, type Route } from '@svc/connector-kit';
import { placeSchema, type PlaceRequest, type Presence } from '@svc/contract/device-gateway.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import { devicesSeenBy } from '../device/devices-seen-by.ts';
import { askerOf, ownKey, queryOf, type Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';

/** `GET /gw/sessions`, `/gw/history`, `/gw/presence` and `POST /gw/forget`: conversations, and which devices are connected. */
export function createSessionRoutes(gateway: Gateway): Route[] {
  const { ctx, authenticate, readBody } = gateway;
  const { sessions } = ctx.core;

  async function list(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const before = queryOf(exchange, 'before');
    const page = { ...limitOf(exchange), ...(before !== null && { before }) };
    reply(exchange, await sessions.list(askerOf(gateway, device), page));
  }

  async function history(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const own = ownKey(gateway, device);
    const key = queryOf(exchange, 'conversation_key') ?? own;
    const before = numberOf(exchange, 'before');
    const page = { ...limitOf(exchange), ...(before !== null && { before }) };
    const said = sessions.history(askerOf(gateway, device), key, page);
    reply(exchange, await (key === own ? said.catch(nothingYet) : said));
  }

  async function forget(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const { conversation_key: key = ownKey(gateway, device) } = await readBody<PlaceRequest>(exchange, placeSchema);
    await sessions.forget(askerOf(gateway, device), key);
    reply(exchange, { ok: true });
  }

  return [
    { method: 'GET', path: '/gw/sessions', doc: { summary: 'Conversations, the newest first', needsKey: true }, handle: list },
    { method: 'GET', path: '/gw/history', doc: { summary: 'Messages of a conversation', needsKey: true }, handle: history },
    {
      method: 'POST',
      path: '/gw/forget',
      doc: { summary: 'Deletes the conversation', needsKey: true, body: placeSchema },
      handle: forget,
    },
    {
      method: 'GET',
      path: '/gw/presence',
      doc: { summary: 'Which devices of this person can be reached', needsKey: true },
      async handle(exchange) {
        reply(exchange, await presenceOf(gateway, authenticate(exchange)));
      },
    },
  ];
}

async function presenceOf(gateway: Gateway, asker: DeviceRecord): Promise<Presence> {
  const { devices } = await devicesSeenBy(gateway, asker);
  const listed = devices.map(({ device_id, name, last_seen_at }) => ({
    device_id,
    name,
    stream: gateway.links.has(device_id, 'stream'),
    control: gateway.links.has(device_id, 'control'),
    last_seen_at,
  }));
  return { ok: true, reachable: listed.some(({ stream, control }) => stream || control), devices: listed };
}

/** A device's conversation begins with its first message; until then its history is empty. */
function nothingYet(error: unknown): { messages: []; next: null } {
  if (error instanceof CoreError && error.code === 'not_found') return { messages: [], next: null };
  throw error;
}

function limitOf(exchange: Exchange): { limit?: number } {
  const limit = numberOf(exchange, 'limit');
  if (limit === null) return {};
  if (limit < 1 || limit > 200) throw badRequest('limit must be from 1 to 200.');
  return { limit };
}

function numberOf(exchange: Exchange, name: string): number | null {
  const given = queryOf(exchange, name);
  if (given === null || given === '') return null;
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 0) throw badRequest(`${name} must be a number.`);
  return value;
}
