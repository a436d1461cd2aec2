import {
  channelKey,
  createConnectorServer,
  createOutboundRoutes,
  createSendRoutes,
  forbidden,
  notFound,
  type ChannelInfo,
  type ConnectorServer,
  type Outbound,
  type SendRoutesDeps,
  type StartContext,
} from '@svc/connector-kit';
import type { Room, Rooms } from '../chatroom-deps.ts';
import { meta } from '../meta.ts';
import { isTarget, noTarget } from './channel-place.ts';
import { usualFileBytes } from './create-outgoing.ts';

type Context = Pick<
  StartContext,
  'outboundAccess' | 'dataDir' | 'instanceId' | 'log' | 'signal' | 'version' | 'uploads' | 'stopTimeoutMs'
>;

export type OutboundServerDeps = Pick<SendRoutesDeps, 'send' | 'key'> & {
  rooms: Rooms;
  toggles: { isEnabled(channelId: string): boolean; set(channelId: string, enabled: boolean): void };
  /** The only person who may be written to in private; empty for everyone. */
  dmAllowed: string;
};

/** `/out`, `/channels` and the other routes of the manager, and `/send` and `/send-file` for programs on this machine. */
export function createOutboundServer(ctx: Context, deps: OutboundServerDeps): ConnectorServer {
  const checkTarget = (target: string) => checkPrivate(target, deps.dmAllowed);
  const send: OutboundServerDeps['send'] = async (message, signal) => {
    checkTarget(message.target);
    return deps.send(message, signal);
  };
  const keyOf = (target: string) => channelKey(meta.type, ctx.instanceId, target);
  const sending = { send, key: deps.key, checkTarget, keyOf, maxFileBytes: usualFileBytes, place, files };
  return createConnectorServer({
    routes: [...createOutboundRoutes(ctx, { send, ...createChannels(deps) }), ...createSendRoutes(ctx, sending)],
    version: ctx.version,
    allowedHosts: [],
    log: ctx.log,
  });
}

/** The places on servers, and which of them relay. A thread relays when both it and its channel are enabled. */
export function createChannels({ rooms, toggles }: Pick<OutboundServerDeps, 'rooms' | 'toggles'>) {
  const toInfo = ({ id, name, kind, guildId, guildName, parentId }: Room): ChannelInfo => ({
    id,
    name,
    enabled: toggles.isEnabled(id) && (parentId === undefined || toggles.isEnabled(parentId)),
    kind,
    guild_id: guildId,
    guild_name: guildName,
    ...(parentId !== undefined && { parent_id: parentId }),
  });
  return {
    channels: async () => (await rooms.list()).map(toInfo),
    async toggleChannel(id: string, enabled: boolean) {
      const room = isTarget(id) ? await rooms.find(id) : null;
      if (room === null) throw notFound('channel', id);
      toggles.set(id, enabled);
      return toInfo(room);
    },
  } satisfies Outbound;
}

function checkPrivate(target: string, dmAllowed: string): void {
  if (!target.startsWith('user:') || dmAllowed === '' || target === `user:${dmAllowed}`) return;
  throw forbidden('Private messages can be sent only to the person in dm_allowed_user_id.');
}

const files = [{ path: '/send-file', kind: 'document', what: 'a file' }] as const;

const place: SendRoutesDeps['place'] = {
  fields: {
    channel_id: { type: 'string', description: 'The ID of a channel, thread or post, or user:ID for a private message.' },
  },
  required: ['channel_id'],
  toTarget({ channel_id: target }) {
    if (typeof target === 'string' && isTarget(target)) return target;
    throw noTarget(String(target));
  },
};
