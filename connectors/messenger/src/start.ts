import {
  chatCommands,
  createIngress,
  errorText,
  followUpdates,
  userKey,
  type RunningConnector,
  type StartContext,
} from '@svc/connector-kit';
import type { Update } from 'grammy/types';
import { toEnvelope } from './incoming/to-envelope.ts';
import { meta, type Config } from './meta.ts';
import { takePress } from './outgoing/ask-buttons.ts';
import { createOutgoing } from './outgoing/create-outgoing.ts';
import { createOutboundServer } from './outgoing/outbound-server.ts';
import { registerCommands } from './outgoing/register-commands.ts';
import { toPress } from './outgoing/to-press.ts';
import { createTelegramApi } from './telegram-api.ts';

/** A Bot API server of one's own takes larger files. */
const telegramRoot: string = meta.configSchema.properties.api_root.default;
const mb = 1024 * 1024;
/** So long after its own wait a poll that has no answer is given up, ms. */
const patienceMs = 10_000;

/** Opens the channel. What it throws is shown to the operator, so it says what is wrong and what to do. */
export async function start(ctx: StartContext<Config>): Promise<RunningConnector> {
  const { config, core, state, log, signal, instanceId } = ctx;
  const api = createTelegramApi(await ctx.secrets.get(config.bot_token_secret_key), config.api_root);
  await api.ask('getMe', {}, signal);
  await api.ask('deleteWebhook', {}, signal);
  const maxFileBytes = config.api_root === telegramRoot ? 50 * mb : 2000 * mb;
  const { reply_style: style, reactions: hasReactions } = config;
  const outgoing = await createOutgoing({ ...ctx, raw: api.raw, style, hasReactions, maxFileBytes });
  const keyOf = (chat: number | string) => userKey(meta.type, instanceId, String(chat));
  const { send_key_secret_key: keyName } = config;
  const key = keyName === undefined ? null : await ctx.secrets.get(keyName);
  const server = createOutboundServer(ctx, { send: outgoing.send, key, keyOf, maxFileBytes });
  const { port, url } = await server.listen(config.http_port, '127.0.0.1');
  const ingress = createIngress({ core, state, log, openReply: outgoing.openReply });
  const presses = { core, call: outgoing.call, channel: meta.type, log, signal };
  void registerCommands(outgoing.call, chatCommands, signal).catch((error: unknown) => {
    log('warn', 'the menu of commands could not be set', { error: errorText(error) });
  });
  let problem: string | null = null;
  const received = followUpdates<Update>({
    poll: (after, waitMs, stopped) => {
      const params = { ...(after !== null && { offset: Number(after) + 1 }), timeout: Math.floor(waitMs / 1000), limit: 100 };
      return api.ask('getUpdates', params, stopped, waitMs + patienceMs);
    },
    cursorOf: ({ update_id }) => update_id,
    async take({ update_id, message, callback_query: query }) {
      const press = query === undefined ? null : toPress(query, keyOf);
      if (press !== null) return takePress(presses, press);
      if (message === undefined) return;
      await ingress.take(String(message.chat.id), String(update_id), async () => toEnvelope(instanceId, message));
    },
    caughtUp: ingress.caughtUp,
    onProblem: (found) => (problem = found),
    signal,
    log,
  });
  return {
    port,
    url,
    async stop() {
      await Promise.all([received, ingress.stop(ctx.stopTimeoutMs * 0.8), server.stop(ctx.stopTimeoutMs * 0.8)]);
    },
    health: () => (problem === null ? { healthy: true } : { healthy: false, detail: problem }),
  };
}
