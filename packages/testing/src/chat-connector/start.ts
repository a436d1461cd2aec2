import {
  createChatGate,
  createIngress,
  createReplyWriter,
  followUpdates,
  systemClock,
  type RunningConnector,
  type StartContext,
} from '@svc/connector-kit';
import type { Config } from './meta.ts';
import { createPlatformApi, type Update } from './platform-api.ts';
import { createReplyPlatform } from './reply-platform.ts';
import { take } from './take-update.ts';

/** Opens the channel. Its errors are shown to the operator, so they say what is wrong and what to do. */
export async function start(ctx: StartContext<Config>): Promise<RunningConnector> {
  const { config, core, state, log, signal } = ctx;
  const api = createPlatformApi(config.base_url, await ctx.secrets.get(config.token_secret_key));
  await api.ask('GET', '/me', { signal });
  const writer = createReplyWriter({
    ...createReplyPlatform(api, { findsNonces: config.finds_nonces }),
    state,
    log,
    signal,
    limit: config.max_chars,
    gate: createChatGate({ clock: systemClock, perMs: config.edit_ms }),
    unsure: config.finds_nonces ? 'repeat' : 'nonce',
  });
  const ingress = createIngress({ core, state, log, openReply: writer.openReply });
  let problem: string | null = null;
  const received = followUpdates<Update>({
    async poll(after, waitMs, stopped) {
      const path = `/updates?after=${after ?? 0}&wait=${waitMs / 1000}`;
      return (await api.ask<{ updates: Update[] }>('GET', path, { signal: stopped, timeoutMs: waitMs + 10_000 })).updates;
    },
    cursorOf: ({ id }) => id,
    take: (update) => take({ ...ctx, api, ingress }, update),
    caughtUp: ingress.caughtUp,
    signal,
    log,
    onProblem: (found) => (problem = found),
  });
  return {
    async stop() {
      await Promise.all([received, ingress.stop(ctx.stopTimeoutMs * 0.8)]);
    },
    health: () => (problem === null ? { healthy: true } : { healthy: false, detail: problem }),
    send: writer.send,
  };
}
