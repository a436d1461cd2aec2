import { createIngress, openChannelToggles, systemClock, type RunningConnector, type StartContext } from '@svc/connector-kit';
import type { Bot } from './chatroom-deps.ts';
import { createDiscordRest } from './discord-rest.ts';
import { tokenHelp } from './incoming/discord-fault.ts';
import { openDirectChannels } from './incoming/direct-channels.ts';
import { findBot } from './incoming/find-bot.ts';
import { openIncoming } from './incoming/open-incoming.ts';
import { createRooms } from './incoming/rooms.ts';
import { createSpeakers } from './incoming/senders.ts';
import { keepCommands, menu } from './interactions/commands.ts';
import { createRespond } from './interactions/respond.ts';
import { takeInteraction } from './interactions/take-interaction.ts';
import { takeVoiceCommand, voiceMenu } from './interactions/take-voice-command.ts';
import { inviteLink } from './invite-link.ts';
import type { Config } from './meta.ts';
import { createOutgoing } from './outgoing/create-outgoing.ts';
import { createOutboundServer } from './outgoing/outbound-server.ts';
import type { DiscordVoice } from './voice/discord-voice.ts';
import { createPostNote } from './voice/post-note.ts';

/** Opens the channel. Errors are shown to the operator, so they say what is wrong and what to do. */
export async function start(ctx: StartContext<Config>): Promise<RunningConnector> {
  const { config, core, state, log, signal } = ctx;
  const token = readToken(await ctx.secrets.get(config.bot_token_secret_key));
  const rest = createDiscordRest(token, config.api_url);
  const bot = await findBot({ state, log }, rest, token, signal);
  const toggles = openChannelToggles(ctx.dataDir);
  const rooms = createRooms(rest, bot.id, signal);
  const { reply_style: style, reactions: hasReactions, send_key_secret_key: keyName, dm_allowed_user_id: dmAllowed } = config;
  const direct = await openDirectChannels(state, log);
  const isPrivate = (channel: string) => direct.list().includes(channel);
  const outgoing = await createOutgoing({ ...ctx, rest, bot, isPrivate, style, hasReactions });
  const key = keyName === undefined ? null : await ctx.secrets.get(keyName);
  const server = createOutboundServer(ctx, { send: outgoing.send, key, rooms, toggles, dmAllowed });
  const { port, url } = await server.listen(config.http_port, '127.0.0.1');
  const post = createPostNote({ rest, clock: systemClock, signal, posted: outgoing.posted });
  const voice: DiscordVoice | null = config.voice ? await loadVoice() : null;
  const ingress = createIngress({ core, state, log, openReply: voice?.openReply(outgoing.openReply) ?? outgoing.openReply });
  const respond = createRespond(rest, bot, signal);
  const incoming = await openIncoming(ctx, {
    token,
    rest,
    bot,
    rooms,
    direct,
    ingress,
    isEnabled: toggles.isEnabled,
    seen: outgoing.saw,
    onEvent: (event) => voice?.note(event),
    async interacted(interaction, deps) {
      if (await takeVoiceCommand({ voice, respond, post, log }, interaction)) return;
      await takeInteraction({ ...deps, signal, rest, respond }, interaction);
    },
  });
  void keepCommands(ctx, rest, bot, config.voice ? [...menu, ...voiceMenu] : menu);
  return {
    port,
    url,
    firstSteps: firstSteps(bot, config),
    async stop() {
      const withinMs = ctx.stopTimeoutMs * 0.8;
      voice?.close();
      await Promise.all([incoming.stop(), ingress.stop(withinMs), server.stop(withinMs)]);
    },
    health() {
      const problem = incoming.problem();
      return problem === null ? { healthy: true } : { healthy: false, detail: problem };
    },
  };

  /** Loaded only when voice is enabled. */
  async function loadVoice(): Promise<DiscordVoice> {
    const { openDiscordVoice } = await import('./voice/discord-voice.ts');
    return openDiscordVoice({
      ...ctx,
      botId: bot.id,
      rest,
      rooms,
      findSpeaker: createSpeakers(core),
      isEnabled: toggles.isEnabled,
      post,
      take: (...update) => ingress.take(...update),
      sendToGateway: async (payload) => incoming.gateway.send(payload),
      ...(config.voice_language !== '' && { language: config.voice_language }),
    });
  }
}

const firstSteps = ({ username, applicationId }: Bot, { pairing, voice }: Config): string =>
  [
    `The bot is ${username}. Invite it to a server with this link, which asks only for the permissions that it needs:`,
    inviteLink(applicationId, voice),
    'Then send it a private message, or mention it in a channel.',
    ...(voice ? ['/join calls it into the voice channel that you are in.'] : []),
    ...(pairing ? ['In a private message it gives you a code. Let yourself in with it: ./svc pair CODE --as owner'] : []),
  ].join('\n');

/** The token is sent as a header. */
function readToken(token: string): string {
  if (/^[\w-]{10,100}(\.[\w-]{3,200}){2}$/.test(token)) return token;
  throw new Error(
    `The secret that bot_token_secret_key names is not a bot token. A bot token has three parts, separated by dots. ${tokenHelp}`,
  );
}
