import { Bot, GrammyError, type Api } from 'grammy';
import { afterEach, beforeEach, expect } from 'vitest';
import type { TelegramUser } from './api-types.ts';
import { startTelegramServer, type TelegramServer, type TelegramServerOptions } from './index.ts';

/** Starts a server for each test of a file, with a client of the real library and one person. */
export type Trial = { server: TelegramServer; api: Api; ann: TelegramUser; open(options: TelegramServerOptions): Promise<void> };

export function useTrial(): Trial {
  const trial = { open } as Trial;
  async function open(options: TelegramServerOptions): Promise<void> {
    await trial.server?.close();
    trial.server = await startTelegramServer(options);
    trial.api = new Bot(trial.server.token, { client: { apiRoot: trial.server.apiRoot } }).api;
    trial.ann = trial.server.person('Ann', { username: 'ann_b' });
  }
  beforeEach(() => open({}));
  afterEach(async () => {
    await trial.server.close();
    expect(trial.server.violations).toEqual([]);
  });
  return trial;
}

/** The refusal of a call; `null` when it was accepted. */
export const refusalOf = async (asked: Promise<unknown>): Promise<string> => {
  const error: unknown = await asked.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof GrammyError ? `${error.error_code} ${error.description}` : String(error);
};

export const textsIn = (server: TelegramServer, chat: number): string[] =>
  server.messages(chat).map(({ text, isDeleted }) => (isDeleted ? `(${text})` : text));
