import { hash } from 'node:crypto';
import { channelPattern, ownChannels } from '@svc/contract/envelope.ts';
import { engineNames } from '@svc/service-kit/config/engine-traits.ts';

/** No instance has such an id: instance ids begin with the name of their type. */
const engines: readonly string[] = engineNames;

/** The key of a session that was begun in a terminal. `id`: the engine's own, where it is known, so that its transcript has the same key. */
export const terminalKey = (engineId: string, id: string): string => `terminal:${engineId}:${id}`;

/** The instance id of a connector's key, such as `messenger:<instanceId>:user:<userId>`. */
export function instanceOfKey(channel: string, key: string): string | null {
  if (ownChannels.includes(channel)) return null;
  const from = channel.length + 1;
  const to = key.indexOf(':', from);
  if (to <= from || !key.startsWith(`${channel}:`)) return null;
  const instanceId = key.slice(from, to);
  // `terminal:<engine>:<id>` belongs to a program in a terminal, not to an instance.
  return channel === 'terminal' && engines.includes(instanceId) ? null : instanceId;
}

const channelForm = new RegExp(channelPattern);

/** The channel of a key of the form `<channel>:…`; null for a key of another form. */
function channelOfKey(key: string): string | null {
  const channel = key.slice(0, Math.max(key.indexOf(':'), 0));
  return channelForm.test(channel) ? channel : null;
}

type Place = { surface: string; instance_id: string | null };

/**
 * Whether a conversation belongs to this channel and instance, by its session or, while there is none, by its key.
 */
export function isAtHome(from: Place, key: string, session: Place | undefined): boolean {
  if (session !== undefined) return session.surface === from.surface && session.instance_id === from.instance_id;
  return (channelOfKey(key) ?? from.surface) === from.surface;
}

/** Whether a key has the form of a channel's own keys: `<channel>:…`. Another channel is only a guest in such a session. */
export const isKeyOf = (channel: string, key: string): boolean => channelOfKey(key) === channel;

/** Whether a key belongs to a conversation of a single request: `compat:<instanceId>:once:<fingerprint>`. */
export const isOnceKey = (key: string): boolean => key.startsWith('compat:') && key.split(':')[2] === 'once';

/** The name of a conversation's own folder, the same in each place where conversations have folders. */
export const folderNameOf = (key: string): string => hash('sha256', key).slice(0, 32);
