import { hash } from 'node:crypto';
import { channelPattern, ownChannels } from '@svc/contract/envelope.ts';
import { engineNames } from '@svc/service-kit/config/engine-traits.ts';

/** No instance has such an id: those begin with the name of their type. */
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
  // `terminal:<engine>:<id>` is of a program in a terminal, of no instance.
  return channel === 'terminal' && engines.includes(instanceId) ? null : instanceId;
}

const channelForm = new RegExp(channelPattern);

/** The channel whose form a key has, `<channel>:…`; null for one of no channel's form. */
function channelOfKey(key: string): string | null {
  const channel = key.slice(0, Math.max(key.indexOf(':'), 0));
  return channelForm.test(channel) ? channel : null;
}

type Place = { surface: string; instance_id: string | null };

/**
 * Whether a conversation is of this channel and instance. Whose session it is says the session; while there is none, its
 * key does.
 */
export function isAtHome(from: Place, key: string, session: Place | undefined): boolean {
  if (session !== undefined) return session.surface === from.surface && session.instance_id === from.instance_id;
  return (channelOfKey(key) ?? from.surface) === from.surface;
}

/** Whether a key is of the form of a channel's own keys: `<channel>:…`. Another channel is a guest in such a session. */
export const isKeyOf = (channel: string, key: string): boolean => channelOfKey(key) === channel;

/** Whether a key is of a conversation that was made for one request alone: `compat:<instanceId>:once:<fingerprint>`. */
export const isOnceKey = (key: string): boolean => key.startsWith('compat:') && key.split(':')[2] === 'once';

/** The name of the folder that a conversation has to itself in each place where conversations have one. */
export const folderNameOf = (key: string): string => hash('sha256', key).slice(0, 32);
