import {
  chatCommands,
  createIngress,
  errorText,
  systemClock,
  type Clock,
  type RunningConnector,
  type StartContext,
} from '@svc/connector-kit';
import { openChatAccess } from './incoming/chat-access.ts';
import { openChatKeys } from './incoming/chat-keys.ts';
import { findBot } from './incoming/find-bot.ts';
import { openIncoming } from './incoming/open-incoming.ts';
import { meta, type Config } from './meta.ts';
import { takePress } from './outgoing/ask-buttons.ts';
import { createOutgoing } from './outgoing/create-outgoing.ts';
import { createOutboundServer } from './outgoing/outbound-server.ts';
import { registerCommands } from './outgoing/register-commands.ts';
import { createTelegramApi } from './telegram-api.ts';

/** The address of Telegram's own servers; a private Bot API server accepts larger files. */
const telegramRoot: string = meta.configSchema.properties.api_root.default;
const mb = 1024 * 1024;

/** Opens the channel. Errors are shown to the operator, so they say what is wrong and what to do. `clock`: times the outgoing writes. */
export async function start(ctx: StartContext<Config>, clock: Clock = systemClock): Promise<RunningConnector> {
  const { config, core, state, log, signal, instanceId } = ctx;
  checkWebhook(config);
  const token = readToken(await ctx.secrets.get(config.bot_token_secret_key));
  const api = createTelegramApi(token, config.api_root);
  const { bot, mark } = await findBot(ctx, api, token);
  const keys = await openChatKeys(state, instanceId, mark);
  const maxFileBytes = config.api_root === telegramRoot ? 50 * mb : 2000 * mb;
  const { reply_style: style, reactions: hasReactions, send_key_secret_key: keyName } = config;
  const outgoing = await createOutgoing({ ...ctx, raw: api.raw, style, hasReactions, maxFileBytes, clock });
  const key = keyName === undefined ? null : await ctx.secrets.get(keyName);
  const access = await openChatAccess({ ...ctx, allowed: config.allowed_chat_ids, root: keys.root });
  const send: typeof outgoing.send = async (message, ended) => {
    access.checkTarget(message.target);
    return outgoing.send(message, ended);
  };
  const server = createOutboundServer(ctx, { send, key, checkTarget: access.checkTarget, keyOf: keys.ofTarget, maxFileBytes });
  const { port, url } = await server.listen(config.http_port, '127.0.0.1');
  const ingress = createIngress({ core, state, log, openReply: outgoing.openReply });
  void registerCommands(outgoing.call, chatCommands, signal).catch((error: unknown) => {
    log('warn', 'the command menu could not be set', { error: errorText(error) });
  });
  const presses = { core, call: outgoing.call, channel: meta.type, log, signal };
  const incoming = await openIncoming(ctx, {
    api,
    bot,
    ingress,
    keys,
    access,
    seen: ({ chat, message_id }) => outgoing.saw(String(chat.id), message_id),
    moved: outgoing.moves.moved,
    pressed: (press) => takePress(presses, press),
  });
  return {
    port,
    url,
    firstSteps: firstSteps(bot.username ?? '', config),
    inviteLink: `https://t.me/${bot.username ?? ''}?start={code}`,
    async stop() {
      const withinMs = ctx.stopTimeoutMs * 0.8;
      await Promise.all([incoming.stop(withinMs), ingress.stop(withinMs), server.stop(withinMs)]);
    },
    health() {
      const problem = incoming.problem();
      return problem === null ? { healthy: true } : { healthy: false, detail: problem };
    },
  };
}

/** The link leads to the chat with the bot, where pressing "Start" sends `/start`. */
const firstSteps = (bot: string, { allowed_chat_ids, pairing }: Config): string =>
  [
    `The bot is https://t.me/${bot}?start=pair. Open this link, also on your phone if you like, and press "Start".`,
    ...(allowed_chat_ids.length > 0 ? ['It answers only the chats in allowed_chat_ids.'] : []),
    ...(pairing ? ['A stranger who writes to it gets a code. Let them in with it: ./svc pair CODE'] : []),
  ].join('\n');

/** The token becomes part of an address. */
function readToken(token: string): string {
  if (/^\d{1,20}:[\w-]{10,200}$/.test(token)) return token;
  throw new Error(
    'The secret that bot_token_secret_key names is not a bot token. A bot token looks like 123456789:AAE…; get one from @BotFather (/newbot or /mybots).',
  );
}

function checkWebhook({ webhook_url, webhook_port }: Config): void {
  if (webhook_url === '' || webhook_port !== 0) return;
  throw new Error('webhook_url also needs webhook_port, the port that the proxy forwards updates to.');
}
