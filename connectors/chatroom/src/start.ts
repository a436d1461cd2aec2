import { createIngress, openChannelToggles, type RunningConnector, type StartContext } from '@svc/connector-kit';
import type { Bot } from './chatroom-deps.ts';
import { createDiscordRest } from './discord-rest.ts';
import { tokenHelp } from './incoming/discord-fault.ts';
import { findBot } from './incoming/find-bot.ts';
import { openIncoming } from './incoming/open-incoming.ts';
import { createRooms } from './incoming/rooms.ts';
import { keepCommands } from './interactions/commands.ts';
import { createRespond } from './interactions/respond.ts';
import { takeInteraction } from './interactions/take-interaction.ts';
import { inviteLink } from './invite-link.ts';
import type { Config } from './meta.ts';
import { createOutgoing } from './outgoing/create-outgoing.ts';

/** Opens the channel. What it throws is shown to the operator, so it says what is wrong and what to do. */
export async function start(ctx: StartContext<Config>): Promise<RunningConnector> {
  const { config, core, state, log, signal } = ctx;
  const token = readToken(await ctx.secrets.get(config.bot_token_secret_key));
  const rest = createDiscordRest(token, config.api_url);
  const bot = await findBot({ state, log }, rest, token, signal);
  const toggles = openChannelToggles(ctx.dataDir);
  const rooms = createRooms(rest, bot.id, signal);
  const { reply_style: style, reactions: hasReactions } = config;
  const outgoing = await createOutgoing({ ...ctx, rest, style, hasReactions });
  const ingress = createIngress({ core, state, log, openReply: outgoing.openReply });
  const respond = createRespond(rest, bot, signal);
  const incoming = await openIncoming(ctx, {
    token,
    rest,
    bot,
    rooms,
    ingress,
    isEnabled: toggles.isEnabled,
    seen: outgoing.saw,
    interacted: (interaction, deps) => takeInteraction({ ...deps, signal, rest, respond }, interaction),
  });
  void keepCommands(ctx, rest, bot);
  return {
    firstSteps: firstSteps(bot, config),
    send: outgoing.send,
    async stop() {
      const withinMs = ctx.stopTimeoutMs * 0.8;
      await Promise.all([incoming.stop(), ingress.stop(withinMs)]);
    },
    health() {
      const problem = incoming.problem();
      return problem === null ? { healthy: true } : { healthy: false, detail: problem };
    },
  };
}

const firstSteps = ({ username, applicationId }: Bot, { pairing }: Config): string =>
  [
    `The bot is ${username}. Invite it to a server with this link, which asks for the rights that it needs and no others:`,
    inviteLink(applicationId),
    'Then write to it in private, or name it in a channel.',
    ...(pairing ? ['In private it gives you a code. Let yourself in with it: ./svc pair CODE --as owner'] : []),
  ].join('\n');

/** It is sent as a header. */
function readToken(token: string): string {
  if (/^[\w-]{10,100}(\.[\w-]{3,200}){2}$/.test(token)) return token;
  throw new Error(
    `The secret that bot_token_secret_key names is no token of a bot. It has three parts with dots between them. ${tokenHelp}`,
  );
}
