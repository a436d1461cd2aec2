import path from 'node:path';
import type { Ingress } from '@svc/connector-kit/ingress/ingress.ts';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import type { Message, User } from 'grammy/types';
import type { Config } from '../meta.ts';
import type { Press } from '../outgoing/ask-buttons.ts';
import { placeOf } from '../outgoing/write-params.ts';
import type { TelegramApi } from '../telegram-api.ts';
import type { ChatAccess } from './chat-access.ts';
import type { ChatKeys } from './chat-keys.ts';
import { createDenyAccess } from '@svc/connector-kit/ingress/deny-access.ts';
import { followBot } from './follow-bot.ts';
import { createFileWords } from './file-words.ts';
import { keepPhotos } from './keep-photos.ts';
import { createMessageEdits } from './message-edits.ts';
import { createOpenFile } from './open-file.ts';
import { openPushedAlbums } from './pushed-albums.ts';
import { createTakeFile } from './take-file.ts';
import { toPress } from './to-press.ts';
import { takeUpdate, type TakeDeps } from './take-update.ts';

type Deps = {
  api: TelegramApi;
  bot: User;
  ingress: Ingress;
  keys: ChatKeys;
  access: ChatAccess;
  /** A message was received. */
  seen(message: Message): void;
  /** A group has a new id. */
  moved(from: number, to: number): Promise<void>;
  /** Rejects with a temporary error when the press must be delivered again. */
  pressed(press: Press): Promise<void>;
};

/** The incoming side. `stop` ends its remaining work once `ctx.signal` has aborted. */
export type IncomingChannel = { problem(): string | null; stop(withinMs: number): Promise<void> };

const mb = 1024 * 1024;
/** Telegram's own servers offer bots no larger files; a server on this machine has them on its disk. */
const maxBytes = { telegram: 20 * mb, own: 100 * mb } as const;

export async function openIncoming(ctx: StartContext<Config>, deps: Deps): Promise<IncomingChannel> {
  const { config, signal, log } = ctx;
  const { api, ingress } = deps;
  let problem: string | null = null;
  const onProblem = (found: string | null): void => void (problem = found);
  const takeDeps = await openTakeDeps(ctx, deps);
  const take = (update: unknown) => takeUpdate(takeDeps, update);
  // Also when Telegram is polled now: parts that were pushed before may be left.
  const takePushed = await openPushedAlbums({ ...ctx, clock: systemClock, take });
  if (config.webhook_url !== '') {
    const { openWebhook } = await import('./webhook.ts');
    const place = { url: config.webhook_url, port: config.webhook_port };
    const { stop } = await openWebhook({ ...ctx, ...place, api, take: takePushed, onProblem });
    return { problem: () => problem, stop };
  }
  const followed = followBot({ api, take, caughtUp: ingress.caughtUp, onProblem, signal, log });
  return { problem: () => problem, stop: () => followed };
}

const isWithin = (folder: string, place: string): boolean => `${place}${path.sep}`.startsWith(path.resolve(folder) + path.sep);

async function openTakeDeps(ctx: StartContext<Config>, { api, bot, ingress, keys, access, ...deps }: Deps): Promise<TakeDeps> {
  const { config, core, log, signal } = ctx;
  const open = createOpenFile({ api, filesDir: config.api_files_dir });
  const photoDir = path.resolve(ctx.dataDir, config.photo_dir);
  const photoPrefix = isWithin(ctx.dataDir, photoDir) ? '' : `${ctx.instanceId}_`;
  keepPhotos({ ...ctx, folder: photoDir, prefix: photoPrefix, days: config.photo_days, megabytes: config.photo_mb });
  const ofFile = config.api_files_dir === '' ? maxBytes.telegram : maxBytes.own;
  const takeFile = createTakeFile({ ...ctx, open, photoDir, photoPrefix, maxBytes: ofFile });
  const fileWords = createFileWords({ core, keys, takeFile });
  return {
    core,
    log,
    bot,
    ingress,
    edits: createMessageEdits(keys),
    keys,
    access,
    deny: createDenyAccess({
      say: (target, text) => api.ask('sendMessage', { ...placeOf(target), text }, signal),
    }),
    takeFile: fileWords.take,
    fileWords,
    seen: deps.seen,
    async moved(from, to) {
      await keys.moved(from, to);
      await deps.moved(from, to);
      log('info', 'a group became a supergroup and has a new ID', { from, to });
    },
    async pressed(query) {
      const press = toPress(query, keys);
      // A button of a message that was sent via the bot, in a chat without the bot, belongs to no question.
      if (press === null) log('debug', 'a button of an unknown message was pressed');
      else await deps.pressed(press);
    },
  };
}
