import type { Room } from '../chatroom-deps.ts';
import type { ChannelMode, Config } from '../meta.ts';

/** How messages of a room are taken. A thread is as its channel, unless it is named itself. */
export function createChannelModes({ channel_mode, channel_modes }: Pick<Config, 'channel_mode' | 'channel_modes'>) {
  const chosen = new Map(channel_modes.map((each) => each.split('=') as [string, ChannelMode]));
  return ({ id, parentId = '' }: Pick<Room, 'id' | 'parentId'>): ChannelMode =>
    chosen.get(id) ?? chosen.get(parentId) ?? channel_mode;
}
