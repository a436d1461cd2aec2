import { errorText, ServiceError, type StartContext } from '@svc/connector-kit';
import { isRecord } from '@svc/contract/json-value.ts';
import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ChannelType,
  InteractionContextType,
  type APIInteraction,
  type RESTPutAPIApplicationCommandsJSONBody,
} from 'discord-api-types/v10';
import { personOf } from '../incoming/sender-of.ts';
import type { DiscordVoice, JoinRequest } from '../voice/discord-voice.ts';
import type { Respond } from './respond.ts';

const channelOption = 'channel';
const inServers = { contexts: [InteractionContextType.Guild], integration_types: [ApplicationIntegrationType.GuildInstall] };

/** Additional menu entries of an instance with voice. */
export const voiceMenu: RESTPutAPIApplicationCommandsJSONBody = [
  {
    type: ApplicationCommandType.ChatInput,
    name: 'join',
    description: 'listen and speak in a voice channel, with a transcript here',
    options: [
      {
        type: ApplicationCommandOptionType.Channel,
        name: channelOption,
        description: 'default: the one you are in',
        channel_types: [ChannelType.GuildVoice],
      },
    ],
    ...inServers,
  },
  { type: ApplicationCommandType.ChatInput, name: 'leave', description: 'leave the voice channel', ...inServers },
];

type Deps = Pick<StartContext, 'log'> & {
  /** Null for an instance without voice. */
  voice: DiscordVoice | null;
  respond: Respond;
  post(channel: string, text: string): Promise<unknown>;
};

type WithVoice = Deps & { voice: DiscordVoice };

const switchedOff = 'Voice is turned off. Turn it on with: ./svc connector config NAME --set voice=true';

/** Handles `/join` and `/leave`. False for anything else. */
export async function takeVoiceCommand(deps: Deps, interaction: APIInteraction): Promise<boolean> {
  const { respond, log, voice } = deps;
  const data = (interaction.data ?? {}) as Record<string, unknown>;
  const name = data['type'] === ApplicationCommandType.ChatInput ? data['name'] : null;
  if (name !== 'join' && name !== 'leave') return false;
  const request = toRequest(interaction, data);
  try {
    if (voice === null) await respond.tell(interaction, switchedOff);
    else if (request === null)
      await respond.tell(interaction, 'This command works only on a server: private messages have no voice channels.');
    else await (name === 'join' ? join : leave)({ ...deps, voice }, interaction, request);
  } catch (error) {
    if (!(error instanceof ServiceError)) log('error', 'a voice command failed', { error: errorText(error) });
    const why = error instanceof ServiceError ? error.message : 'This failed. The log says why.';
    await respond.tell(interaction, why).catch((fault: unknown) => {
      log('warn', 'a voice command could not be answered', { error: errorText(fault) });
    });
  }
  return true;
}

function toRequest(
  { guild_id: guild, channel_id, member }: APIInteraction,
  { options }: Record<string, unknown>,
): JoinRequest | null {
  if (guild === undefined || member === undefined) return null;
  const given = (Array.isArray(options) ? options : []).filter(isRecord).find((option) => option['name'] === channelOption);
  return {
    guild,
    text: channel_id ?? '',
    user: personOf(member.user),
    roles: member.roles,
    ...(given !== undefined && { channel: String(given['value']) }),
  };
}

/** Discord expects a response within 3 s, and joining may take longer, so the outcome is posted afterwards. */
async function join({ voice, respond, post, log }: WithVoice, interaction: APIInteraction, request: JoinRequest): Promise<void> {
  const place = await voice.findPlace(request);
  await respond.show(interaction, `I am joining <#${place.channel}>.`);
  const how = await voice.join(place).then(
    () => `I am listening in <#${place.channel}>. I write down here what is said. Use /leave to send me away.`,
    (error: unknown) => (error instanceof ServiceError ? error.message : `I could not join: ${errorText(error)}`),
  );
  await post(place.text, how).catch((error: unknown) =>
    log('warn', 'a voice notice could not be posted', { error: errorText(error) }),
  );
}

async function leave({ voice, respond }: WithVoice, interaction: APIInteraction, request: JoinRequest): Promise<void> {
  const hasLeft = await voice.leave(request);
  if (hasLeft) await respond.show(interaction, 'I left the voice channel.');
  else await respond.tell(interaction, 'I am not in a voice channel here.');
}
