import type { DiscordGatewayAdapterCreator } from '@discordjs/voice';
import {
  errorText,
  ServiceError,
  systemClock,
  type Clock,
  type Envelope,
  type Ingress,
  type StartContext,
} from '@svc/connector-kit';
import type { OpenReply } from '@svc/connector-kit/ingress/lazy-reply.ts';
import { listenOn } from './discord-ears.ts';
import { createDiscordPlayer } from './discord-player.ts';
import type { Player } from './speech-line.ts';
import { createSpeakPcm } from './speak-pcm.ts';
import { joinChannel } from './voice-connection.ts';
import { loadVoicePackages, type VoicePackages } from './voice-packages.ts';
import { createVoiceRoom, type SaidMessage, type Speaker, type VoiceRoom } from './voice-room.ts';

/** A voice channel, and the text channel to which its speech is written. */
export type VoicePlace = { guild: string; channel: string; text: string };

export type VoiceOptions = Pick<StartContext, 'speech' | 'log' | 'instanceId'> & {
  /** Where the libraries are, or what to do when they are missing. */
  packages: { folder: string } | { missing: string };
  clock?: Clock;
  /** Passes messages to the core in the order of a text channel. */
  take: Ingress['take'];
  adapterOf(guild: string): DiscordGatewayAdapterCreator;
  /** Null for a program, a stranger, or a person who is denied. Asked again once a minute for each person. */
  speakerOf(place: VoicePlace, user: string): Promise<Speaker | null>;
  toEnvelope(place: VoicePlace, message: SaidMessage): Promise<Envelope>;
  /** Posts to a text channel without mentions; returns the id of the message. */
  post(channel: string, text: string): Promise<string>;
  /** Ends the running turn of a text channel's conversation, on behalf of a person. */
  abort(place: VoicePlace, as: Speaker): Promise<void>;
  /** Number of people in a voice channel, without programs; null while it is unknown. */
  peopleIn(place: VoicePlace): number | null;
  /** Whether the operator lets it listen and speak there. */
  isOn(place: VoicePlace): boolean;
  language?: string;
};

export type Voice = {
  /** Joins, or moves there within the guild. @throws ServiceError that says why it cannot */
  join(place: VoicePlace): Promise<void>;
  /** False when it was in no voice channel of the guild. */
  leave(guild: string): boolean;
  /** The places it has joined. */
  places(): VoicePlace[];
  /** Speaks the replies to spoken messages, in addition to showing them. */
  openReply(openReply: OpenReply): OpenReply;
  close(): void;
};

const maxRooms = 4;
const knownForMs = 60_000;
const maxKnown = 500;
const lookEveryMs = 10_000;
/** It leaves after this time without speech, or when nobody is there, ms. */
const idleMs = 15 * 60_000;
const aloneMs = 60_000;

/** `place`: its current place. */
type Entry = { readonly place: VoicePlace; room: VoiceRoom; end(): void };

/** The voice of one instance: at most one channel per guild. Loads its libraries when it first joins. */
export function openVoice(options: VoiceOptions): Voice {
  const { log, clock = systemClock } = options;
  const entries = new Map<string, Entry>();
  const joining = new Set<string>();
  const speak = createSpeakPcm(options.speech);
  let packages: VoicePackages | null = null;
  let isClosed = false;

  async function join(place: VoicePlace): Promise<void> {
    const { guild } = place;
    const now = entries.get(guild);
    if (now !== undefined && now.place.channel === place.channel && now.place.text === place.text) return;
    if (joining.has(guild)) throw new ServiceError('busy', 'I am already joining a voice channel of this server.');
    if (now === undefined && entries.size + joining.size >= maxRooms)
      throw new ServiceError('queue_full', `I am already in ${maxRooms} voice channels, which is the maximum.`);
    joining.add(guild);
    try {
      now?.end();
      await open(place, (packages ??= load(options.packages)));
    } finally {
      joining.delete(guild);
    }
  }

  async function open(place: VoicePlace, libraries: VoicePackages): Promise<void> {
    const ending = new AbortController();
    const joined = await joinChannel(libraries, {
      guild: place.guild,
      channel: place.channel,
      adapterCreator: options.adapterOf(place.guild),
      group: options.instanceId,
      log,
      onLost: (why) => leaveWith(place, `I left the voice channel: ${why}.`),
    });
    if (isClosed) return joined.close();
    const player = createDiscordPlayer(libraries, joined.connection, log);
    const placeNow = (): VoicePlace => ({ ...place, channel: joined.channel() });
    const room = openRoom(place, placeNow, player);
    const end = (): void => {
      entries.delete(place.guild);
      stopLooking();
      ending.abort();
      room.close();
      player.close();
      joined.close();
    };
    const stopLooking = watch(placeNow, room, end);
    const entry: Entry = {
      room,
      end,
      get place() {
        return placeNow();
      },
    };
    entries.set(place.guild, entry);
    listenOn({ packages: libraries, connection: joined.connection, listen: room.listen, clock, log, signal: ending.signal });
  }

  function openRoom(place: VoicePlace, placeNow: () => VoicePlace, player: Player): VoiceRoom {
    const speakerOf = remembered((user) => options.speakerOf(place, user), clock);
    return createVoiceRoom({
      ...options,
      clock,
      speak,
      player,
      speakerOf: async (user) => (options.isOn(placeNow()) ? speakerOf(user) : null),
      caption: ({ name }, text) => options.post(place.text, `🎙 **${plainName(name)}:** ${text}`),
      note: (text) => say(place, text),
      take: (id, prepare) => options.take(place.text, id, async (signal) => (options.isOn(placeNow()) ? prepare(signal) : null)),
      toEnvelope: (message) => options.toEnvelope(place, message),
      abort: (as) => options.abort(place, as),
    });
  }

  /** Leaves when it is no longer needed. */
  function watch(placeNow: () => VoicePlace, room: VoiceRoom, end: () => void): () => void {
    let lastSeen = clock.elapsed();
    const whyLeave = (place: VoicePlace): string | null => {
      const now = clock.elapsed();
      if (options.peopleIn(place) !== 0) lastSeen = now;
      if (!options.isOn(place)) return 'I was switched off there';
      if (now - lastSeen >= aloneMs) return 'nobody else was there';
      return now - room.lastActive >= idleMs ? 'nobody said anything' : null;
    };
    return clock.every(lookEveryMs, () => {
      const place = placeNow();
      const why = whyLeave(place);
      if (why === null) return;
      end();
      say(place, `I left the voice channel: ${why}.`);
    });
  }

  function leaveWith(place: VoicePlace, text: string): void {
    entries.get(place.guild)?.end();
    say(place, text);
  }

  const say = (place: VoicePlace, text: string): void => {
    options
      .post(place.text, text)
      .catch((error: unknown) => log('warn', 'a voice notice could not be posted', { error: errorText(error) }));
  };

  return {
    join,
    leave(guild) {
      const entry = entries.get(guild);
      entry?.end();
      return entry !== undefined;
    },
    places: () => [...entries.values()].map(({ place }) => place),
    openReply: (openReply) => (envelope, turn) => {
      const chat = envelope.channel_context?.channelId;
      const entry = [...entries.values()].find(({ place }) => place.text === chat);
      return (entry?.room.openReply(openReply) ?? openReply)(envelope, turn);
    },
    close() {
      isClosed = true;
      for (const { end } of entries.values()) end();
    },
  };
}

function load(packages: VoiceOptions['packages']): VoicePackages {
  if ('missing' in packages) throw new ServiceError('unavailable', packages.missing);
  try {
    return loadVoicePackages(packages.folder);
  } catch (error) {
    throw new ServiceError('unavailable', `The voice libraries cannot be loaded: ${errorText(error)}`, { cause: error });
  }
}

/** Caches the answer briefly: trust can change, but not from word to word. */
function remembered(ask: (user: string) => Promise<Speaker | null>, clock: Clock): (user: string) => Promise<Speaker | null> {
  const known = new Map<string, { speaker: Promise<Speaker | null>; at: number }>();
  return (user) => {
    const found = known.get(user);
    if (found !== undefined && clock.elapsed() - found.at < knownForMs) return found.speaker;
    if (known.size >= maxKnown) known.clear();
    const speaker = ask(user);
    known.set(user, { speaker, at: clock.elapsed() });
    speaker.catch(() => known.delete(user));
    return speaker;
  };
}

/** A name as a single line without markup. */
const plainName = (name: string): string => name.replaceAll(/[*_`~|\\\s]+/gu, ' ').trim() || 'A person';
