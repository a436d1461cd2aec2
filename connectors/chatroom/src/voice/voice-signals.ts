import type { DiscordGatewayAdapterCreator, DiscordGatewayAdapterLibraryMethods } from '@discordjs/voice';
import { errorText, type StartContext } from '@svc/connector-kit';
import type { GatewaySendPayload } from 'discord-api-types/v10';
import { isRecord } from '@svc/contract/json-value.ts';

/** What voice connections send to the gateway and receive from it. */
export type VoiceSignals = {
  note(event: { t: string | null; d: unknown }): void;
  adapterOf(guild: string): DiscordGatewayAdapterCreator;
};

type Deps = Pick<StartContext, 'log'> & {
  botId: string;
  /** Sends to the gateway. */
  send(payload: GatewaySendPayload): Promise<void>;
};

export function createVoiceSignals({ botId, send, log }: Deps): VoiceSignals {
  const connections = new Map<string, DiscordGatewayAdapterLibraryMethods>();
  return {
    note({ t: kind, d: data }) {
      if (!isRecord(data)) return;
      const methods = connections.get(String(data['guild_id']));
      // The casts: Discord's own events, which the library parses.
      if (kind === 'VOICE_SERVER_UPDATE') methods?.onVoiceServerUpdate(data as never);
      if (kind === 'VOICE_STATE_UPDATE' && data['user_id'] === botId) methods?.onVoiceStateUpdate(data as never);
    },
    adapterOf: (guild) => (methods) => {
      connections.set(guild, methods);
      return {
        sendPayload(payload) {
          send(payload as GatewaySendPayload).catch((error: unknown) =>
            log('warn', 'Discord could not be told to change the voice channel', { error: errorText(error) }),
          );
          return true;
        },
        destroy: () => void (connections.get(guild) === methods && connections.delete(guild)),
      };
    },
  };
}
