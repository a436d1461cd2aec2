import type { ConnectorState, StartContext } from '@svc/connector-kit';
import { errorText } from '@svc/service-kit/service-error.ts';
import { isId, type ChatEvent } from './read-event.ts';

/** Private chats with messages, because Discord does not list them. */
export type DirectChannels = { list(): readonly string[]; note(event: ChatEvent): Promise<void> };

const key = 'direct-channels';
const most = 50;

export async function openDirectChannels(state: ConnectorState, log: StartContext['log']): Promise<DirectChannels> {
  const kept: unknown = await state.get(key);
  let channels: string[] = Array.isArray(kept) ? kept.filter(isId) : [];
  return {
    list: () => channels,
    async note(event) {
      if (event.kind !== 'message' || event.message.guild_id !== undefined) return;
      const { channel_id: channel } = event.message;
      if (channels.includes(channel)) return;
      channels = [channel, ...channels].slice(0, most);
      await state.set(key, channels).catch((error: unknown) => {
        log('warn', 'a private chat could not be saved', { error: errorText(error) });
      });
    },
  };
}
