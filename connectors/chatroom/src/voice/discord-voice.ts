import { channelLine } from '@svc/connector-kit/channel-line.ts';
import { typedText } from '@svc/connector-kit/typed-text.ts';
import type { REST } from '@discordjs/rest';
import {
  channelKey,
  errorText,
  ServiceError,
  type CoreApi,
  type Envelope,
  type Sender,
  type StartContext,
} from '@svc/connector-kit';
import { isRecord } from '@svc/contract/json-value.ts';
import { atLeast } from '@svc/contract/trust.ts';
import { Routes, type GatewaySendPayload } from 'discord-api-types/v10';
import { isRole, type FindSpeaker } from '../incoming/senders.ts';
import type { KnownRooms } from '../incoming/rooms.ts';
import { isOpen } from '../incoming/to-envelope.ts';
import { meta } from '../meta.ts';
import { openVoice, type Voice, type VoiceOptions, type VoicePlace } from './open-voice.ts';
import { createVoiceSignals } from './voice-signals.ts';
import { createVoiceStates } from './voice-states.ts';
import type { SaidMessage, Speaker } from './voice-room.ts';

export type DiscordVoiceDeps = Pick<StartContext, 'speech' | 'log' | 'signal' | 'instanceId' | 'packages'> & {
  core: Pick<CoreApi, 'sessions'>;
  botId: string;
  rest: Pick<REST, 'get'>;
  rooms: Pick<KnownRooms, 'find' | 'guild' | 'known'>;
  findSpeaker: FindSpeaker;
  isEnabled(channel: string): boolean;
  take: VoiceOptions['take'];
  post: VoiceOptions['post'];
  sendToGateway(payload: GatewaySendPayload): Promise<void>;
  language?: string;
};

/** A person's request to join a voice channel. `channel`: the voice channel, if it was named. */
export type JoinRequest = { user: Sender; roles: string[]; guild: string; text: string; channel?: string };

/** The voice of one instance on Discord. */
export type DiscordVoice = Pick<Voice, 'openReply' | 'close'> & {
  /** Handles an event of the gateway. */
  note(event: { t: string | null; d: unknown }): void;
  /** The place to join. @throws ServiceError that says why it cannot join, and what to do */
  findPlace(request: JoinRequest): Promise<VoicePlace>;
  join(place: VoicePlace): Promise<void>;
  leave(request: JoinRequest): Promise<boolean>;
};

/** Sent to the engine with each utterance. */
const spokenHint =
  'This was said in a voice channel and transcribed, so words may be wrong. Your answer is read aloud: keep it short, in plain sentences, without lists, tables or code unless asked for. When people talk to each other and not to you, answer [[NO_REPLY]].';

export function openDiscordVoice(deps: DiscordVoiceDeps): DiscordVoice {
  const { core, rooms, rest, signal, botId, log, packages } = deps;
  const states = createVoiceStates();
  const signals = createVoiceSignals({ botId, log, send: deps.sendToGateway });

  /** For each server, why nobody can hear the assistant in its voice channel. */
  const unheard = new Map<string, string>();

  function noteUnheard({ t: kind, d: data }: { t: string | null; d: unknown }): void {
    if (kind !== 'VOICE_STATE_UPDATE' || !isRecord(data) || data['user_id'] !== botId) return;
    const guild = String(data['guild_id']);
    const why = typeof data['channel_id'] === 'string' ? whyUnheard(data) : null;
    if (why === unheard.get(guild)) return;
    unheard.delete(guild);
    if (why === null) return;
    unheard.set(guild, why);
    sayUnheard(guild);
  }

  /** Without this notice, people would wait for an answer that is only written. */
  function sayUnheard(guild: string): void {
    const place = voice.places().find((each) => each.guild === guild);
    const why = unheard.get(guild);
    if (place === undefined || why === undefined) return;
    deps
      .post(place.text, `Nobody can hear me in <#${place.channel}>: ${why} I answer here instead.`)
      .catch((error: unknown) => log('warn', 'a voice notice could not be posted', { error: errorText(error) }));
  }

  /** The identity of a member; null for programs and strangers, who are not heard. */
  async function speakerIn(place: VoicePlace, user: string): Promise<{ sender: Sender; name: string } | null> {
    if (user === botId) return null;
    const member = await rest.get(Routes.guildMember(place.guild, user), { signal });
    if (!isRecord(member) || !isRecord(member['user']) || member['user']['bot'] === true) return null;
    const name = String(member['nick'] ?? member['user']['global_name'] ?? member['user']['username'] ?? user);
    const roles = Array.isArray(member['roles']) ? member['roles'].map(String) : [];
    const own = { raw_id: user, raw_username: name.slice(0, 256) };
    const { sender, identity } = await deps.findSpeaker(own, roles, await keyOf(place));
    return identity.denied || identity.principal_id === null ? null : { sender, name };
  }

  const keyOf = async ({ guild, text }: Pick<VoicePlace, 'guild' | 'text'>) => ({
    conversation_key: channelKey(meta.type, deps.instanceId, text),
    ...((await rooms.guild(guild, signal)).isPublic && { public: true }),
  });

  /** Speech of one channel is written down in another, and each of them can be switched off. */
  function isOn({ channel, text }: Pick<VoicePlace, 'channel' | 'text'>): boolean {
    return [channel, text].every((id) => isOpen(deps, rooms.known(id) ?? { id }));
  }

  async function toEnvelope(place: VoicePlace, { speaker, text, messageId }: SaidMessage): Promise<Envelope> {
    return {
      ...(await keyOf(place)),
      channel: meta.type,
      message_id: messageId,
      sender: { raw_id: speaker.id, raw_username: speaker.name.slice(0, 256) },
      content: {
        text: isRole({ raw_id: speaker.id })
          ? `${channelLine('Said by', ` ${speaker.name}`)}\n${typedText(text)}`
          : typedText(text),
        system: spokenHint,
      },
      capabilities: meta.capabilities,
      channel_context: { channelId: place.text },
    };
  }

  const voice = openVoice({
    ...deps,
    packages: packages ?? { missing: 'The voice libraries are not installed. Restart the connector.' },
    adapterOf: signals.adapterOf,
    async speakerOf(place, user): Promise<Speaker | null> {
      const found = await speakerIn(place, user);
      return found === null ? null : { id: found.sender.raw_id, name: found.name };
    },
    toEnvelope,
    async abort(place, { id }) {
      const { conversation_key, ...isPublic } = await keyOf(place);
      await core.sessions.abort({ channel: meta.type, sender: { raw_id: id }, ...isPublic }, conversation_key);
    },
    peopleIn: ({ guild, channel }) => states.peopleIn(guild, channel),
    isOn,
  });

  /** @throws ServiceError `forbidden` */
  async function checkAsker({ user, roles, guild, text }: JoinRequest): Promise<void> {
    const { identity } = await deps.findSpeaker(user, roles, await keyOf({ guild, text }));
    if (identity.denied || !atLeast(identity.trust_tier, 'KNOWN'))
      throw new ServiceError('forbidden', 'Only people I know may call me into a voice channel or send me away.');
  }

  async function channelOf({ user, guild, channel }: JoinRequest): Promise<string> {
    if (channel !== undefined) return channel;
    // This fails when the member is in no voice channel.
    const state = await rest.get(Routes.guildVoiceState(guild, user.raw_id), { signal }).catch(() => null);
    if (isRecord(state) && typeof state['channel_id'] === 'string') return state['channel_id'];
    throw new ServiceError('not_found', 'Join a voice channel first, or name one.');
  }

  return {
    note(event) {
      states.note(event);
      signals.note(event);
      noteUnheard(event);
    },
    openReply: voice.openReply,
    close: voice.close,
    async join(place) {
      await voice.join(place);
      sayUnheard(place.guild);
    },
    async findPlace(request) {
      await checkAsker(request);
      const channel = await channelOf(request);
      const room = await rooms.find(channel);
      if (room?.kind !== 'voice' || room.guildId !== request.guild)
        throw new ServiceError('not_found', 'That is not a voice channel of this server.');
      const place = { guild: request.guild, channel, text: request.text };
      if (!isOn(place)) throw new ServiceError('forbidden', 'I am switched off in this channel.');
      return place;
    },
    async leave(request) {
      await checkAsker(request);
      return voice.leave(request.guild);
    },
  };
}

/** `suppress`: Discord does not let it speak. */
function whyUnheard({ suppress, mute }: Record<string, unknown>): string | null {
  if (suppress === true)
    return 'I am not allowed to speak there. Give me the permission to speak or, on a stage, invite me to speak.';
  return mute === true ? 'I am muted there.' : null;
}
