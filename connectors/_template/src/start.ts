import {
  createChatGate,
  createIngress,
  createReplyWriter,
  followUpdates,
  systemClock,
  type RunningConnector,
  type StartContext,
} from '@svc/connector-kit';
import { meta, type Config } from './meta.ts';
import { createPlatformApi } from './platform-api.ts';
import { startPracticePlatform } from './practice/platform.ts';
import { toEnvelope } from './to-envelope.ts';

/** Opens the channel. Errors are shown to the operator, so they say what is wrong and what to do. */
export async function start(ctx: StartContext<Config>): Promise<RunningConnector> {
  const { config, core, state, log, signal } = ctx;
  const token = await ctx.secrets.get(config.token_secret_key);
  const practice = config.base_url === '' ? await startPracticePlatform(ctx, token) : null;
  const api = createPlatformApi(practice?.url ?? config.base_url, token);
  await api.whoAmI(signal);

  const { openReply, send } = createReplyWriter({
    ...api,
    limit: meta.capabilities.max_message_chars,
    // Pause between two writes to a chat: set it to what your platform allows.
    gate: createChatGate({ clock: systemClock, perMs: 250 }),
    // The platform recognizes a message by its nonce, so one whose answer was lost is posted again.
    unsure: 'nonce',
    style: config.reply_style,
    state,
    log,
    signal,
  });
  const ingress = createIngress({ core, state, log, openReply });
  let problem: string | null = null;
  const followed = followUpdates({
    poll: (after, waitMs, stopped) => api.updates(Number(after ?? 0), waitMs, stopped),
    cursorOf: ({ id }) => id,
    take: (update) => ingress.take(update.chat, String(update.id), (stopped) => toEnvelope({ ...ctx, api }, update, stopped)),
    caughtUp: ingress.caughtUp,
    onProblem: (found) => (problem = found),
    signal,
    log,
  });

  return {
    port: practice?.port,
    url: practice?.url,
    async stop() {
      await Promise.all([followed, ingress.stop(ctx.stopTimeoutMs * 0.6)]);
      await practice?.stop(ctx.stopTimeoutMs * 0.2);
    },
    health: () => (problem === null ? { healthy: true } : { healthy: false, detail: problem }),
    send,
  };
}
