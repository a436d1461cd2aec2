import type { REST } from '@discordjs/rest';
import { followUpdates, systemClock, type Clock, type Ingress, type StartContext } from '@svc/connector-kit';
import type { APIInteraction, GatewayDispatchPayload } from 'discord-api-types/v10';
import type { Bot, Room } from '../chatroom-deps.ts';
import { openGateway, type Gateway } from '../gateway/open-gateway.ts';
import { openSessionRecord } from '../gateway/session-record.ts';
import type { ChannelMode, Config } from '../meta.ts';
import { createDenyAccess } from '@svc/connector-kit/ingress/deny-access.ts';
import { createTakeFile } from '@svc/connector-kit/ingress/take-file.ts';
import { GatewayIntentBits, Routes } from 'discord-api-types/v10';
import type { DirectChannels } from './direct-channels.ts';
import { createEventSource, type Item } from './event-source.ts';
import { createJoinIn } from './join-in.ts';
import { createMemberRoles } from './member-roles.ts';
import { createMessageAuthors } from './message-authors.ts';
import type { MessageFile } from './message-files.ts';
import { createOpenAttachment } from './open-attachment.ts';
import { isId, timeOf } from './read-event.ts';
import type { KnownRooms } from './rooms.ts';
import { createRounds } from './rounds.ts';
import { createSpeakers } from './senders.ts';
import { takeEvent, type TakeDeps } from './take-event.ts';

/** The members of voice channels, for instances with voice. */
const voiceIntents = GatewayIntentBits.GuildVoiceStates;

/** The events requested from the gateway. Message contents must be allowed on the developer page. */
const intents =
  GatewayIntentBits.Guilds |
  GatewayIntentBits.GuildMessages |
  GatewayIntentBits.GuildMessageReactions |
  GatewayIntentBits.DirectMessages |
  GatewayIntentBits.DirectMessageReactions |
  GatewayIntentBits.MessageContent;

export type IncomingDeps = {
  token: string;
  rest: REST;
  bot: Bot;
  rooms: KnownRooms;
  direct: DirectChannels;
  ingress: Ingress;
  isEnabled(channel: string): boolean;
  seen(channel: string, message: string): void;
  interacted(interaction: APIInteraction, deps: TakeDeps): Promise<void>;
  /** Called for each event before it is handled. */
  onEvent?(payload: GatewayDispatchPayload): void;
  clock?: Clock;
};

/** The incoming side. `stop` ends its remaining work once `ctx.signal` has aborted. */
export type IncomingChannel = { gateway: Gateway; problem(): string | null; stop(): Promise<void> };

/** Members without a subscription can only send smaller files. */
const maxFileBytes = 100 * 1024 * 1024;
/** How long the start waits for the gateway, ms: after that the connector runs without it, and reports this in its health. */
const openWithinMs = 15_000;

const notOpen = 'The connection to Discord is not open yet.';

/** Rejects when a person must act before messages can be received. */
export async function openIncoming(ctx: StartContext<Config>, deps: IncomingDeps): Promise<IncomingChannel> {
  const { config, state, log, signal } = ctx;
  const { token, rest, bot, rooms, direct, isEnabled, clock = systemClock } = deps;
  const problems = { gateway: notOpen as string | null, taking: null as string | null };
  const record = await openSessionRecord({ state, log, clock, botId: bot.id });
  const takeDeps = createTakeDeps(ctx, deps, clock);

  const channelsSince = (time: number) => {
    const rest = rooms.newest().filter(({ message }) => isId(message) && timeOf(message) >= time);
    const open = rest.filter(({ room }) => isEnabled(room)).toSorted((a, b) => timeOf(b.message) - timeOf(a.message));
    return [
      ...direct.list().map((id) => ({ id })),
      ...open.map(({ room: id }) => ({ id, guildId: rooms.known(id)?.guildId ?? '' })),
    ];
  };
  const source = createEventSource({
    rest,
    record,
    clock,
    log,
    signal,
    findChannels: rooms.list,
    channelsSince,
    backfillHours: config.backfill_hours,
  });
  const gateway = openGateway({
    token,
    rest,
    intents: config.voice ? intents | voiceIntents : intents,
    record,
    log,
    signal,
    clock,
    onEvent(payload, sessionId) {
      rooms.note(payload);
      deps.onEvent?.(payload);
      source.onEvent(payload, sessionId);
    },
    onNewSession: source.onNewSession,
    onResumed: source.onResumed,
    onProblem: (problem) => void (problems.gateway = problem),
  });
  await gateway.opened(openWithinMs);
  const followed = followUpdates<{ at: number; event: Item }>({
    poll: source.poll,
    cursorOf: ({ at }) => at,
    take: async ({ event: { event } }) => {
      if (event === null) return;
      // Both start at once: waiting before an event is handled would let the next event of its channel overtake it.
      await Promise.all([direct.note(event), takeEvent(takeDeps, event)]);
    },
    signal,
    log,
    clock,
    onProblem: (problem) => void (problems.taking = problem),
  });
  return {
    gateway,
    problem: () => problems.gateway ?? problems.taking,
    async stop() {
      await Promise.all([followed, gateway.closed]);
      await record.flush();
    },
  };
}

function createTakeDeps(ctx: StartContext<Config>, deps: IncomingDeps, clock: Clock): TakeDeps {
  const { config, core, instanceId, log, signal } = ctx;
  const { rest, bot, rooms, ingress, isEnabled, seen } = deps;
  const takeDeps: TakeDeps = {
    core,
    instanceId,
    log,
    bot,
    rooms,
    ingress,
    isEnabled,
    seen,
    modeOf: createChannelModes(config),
    dmAllowed: config.dm_allowed_user_id,
    moderator: config.moderator_user_id,
    deny: createDenyAccess({
      say: (channel, content) =>
        rest.post(Routes.channelMessages(channel), { body: { content, allowed_mentions: { parse: [] } }, signal }),
    }),
    findSpeaker: createSpeakers(core, clock),
    rolesOf: createMemberRoles(rest, clock),
    takeFile: createTakeFile<MessageFile>({ ...ctx, open: createOpenAttachment(config.api_url), maxBytes: maxFileBytes }),
    joinIn: createJoinIn({ ...ctx, perHour: config.autonomous_per_hour, clock }),
    rounds: createRounds(),
    authors: createMessageAuthors(),
    now: () => clock.now(),
    interacted: (interaction) => deps.interacted(interaction, takeDeps),
  };
  return takeDeps;
}

/** How messages of a room are handled. A thread inherits the mode of its channel, unless it has its own. */
function createChannelModes({ channel_mode, channel_modes }: Pick<Config, 'channel_mode' | 'channel_modes'>) {
  const chosen = new Map(channel_modes.map((each) => each.split('=') as [string, ChannelMode]));
  return ({ id, parentId = '' }: Pick<Room, 'id' | 'parentId'>): ChannelMode =>
    chosen.get(id) ?? chosen.get(parentId) ?? channel_mode;
}
