import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { answerWith, takesEffect, type PlatformFault } from '../chat-platform/platform-faults.ts';
import { listen } from '../listen.ts';
import { ApiError, type TelegramUpdate } from './api-types.ts';
import type { BotProfile } from './bot-profile.ts';
import { createCalls, type ReadCall, type RecordedCall } from './create-calls.ts';
import { createChats } from './create-chats.ts';
import { createFiles } from './create-files.ts';
import { createLimits, tooManyRequests, usualLimits, type Offence, type TelegramLimits } from './create-limits.ts';
import { createUpdates } from './create-updates.ts';
import { createWebhook } from './create-webhook.ts';
import { readApiDescription } from './description/api-description.ts';
import type { Platform } from './methods/method-table.ts';
import { createPeople, type People } from './people.ts';
import { createPeopleChats, type PeopleChats } from './people-chats.ts';
import {
  createFaults,
  createUpdateFaults,
  isTooMany,
  type Faults,
  type TelegramFault,
  type UpdateFaults,
} from './telegram-faults.ts';
import { viewChat, type SeenMessage } from './view-chat.ts';

export type TelegramServerOptions = {
  port?: number;
  token?: string;
  username?: string;
  /** Off (BotFather's default): the bot gets from groups only messages that concern it. */
  readsAllMessages?: boolean;
  /** False: `sendMessageDraft` is not found, as on older servers. */
  hasDrafts?: boolean;
  /** No limits by default; `{}`: the documented ones. */
  limits?: Partial<TelegramLimits>;
  /** How much faster the limits' time goes; `retry_after` is then a fraction, so that clients wait accordingly shorter. */
  timeScale?: number;
  clock?: Clock;
  updateFaults?: UpdateFaults;
  /** The delay before a failed webhook is retried; later retries wait longer. */
  webhookRetryMs?: number;
};

export type TelegramServer = People &
  PeopleChats &
  Faults & {
    /** The value for `api_root`. */
    apiRoot: string;
    token: string;
    bot: BotProfile;
    /** All authenticated calls, in order. */
    calls: RecordedCall[];
    /** Calls and own answers that violate the description of the Bot API, and formatting that would not be shown as sent. */
    violations: string[];
    /** Writes that came too early. */
    offences: Offence[];
    /** All messages of a chat as a person sees them, in order. */
    messages(chat: number): SeenMessage[];
    /** The bot's messages that are not deleted, in order. */
    replies(chat: number, thread?: number): SeenMessage[];
    /** The bot's drafts in a private chat. */
    drafts(chat: number): string[];
    /** Actions (`typing`, …) that the bot showed, in order. */
    actions(chat: number): string[];
    pendingUpdates(): readonly TelegramUpdate[];
    /** Id of the last update that the bot has confirmed. */
    readonly confirmed: number;
    /** Sends an update of any kind, for those without an action of a person here. */
    addUpdate(kind: string, body: object): void;
    /** Cuts all connections, as in a restart of the server. */
    cutConnections(): void;
    close(): Promise<void>;
  };

/**
 * A small Bot API server on loopback, modelled on the documented behaviour. Every call and every answer is checked against the
 * published description of the Bot API: a test ends with `expect(server.violations).toEqual([])`.
 *
 *     const server = await startTelegramServer();
 *     onTestFinished(() => server.close());
 *     const bot = new Bot(server.token, { client: { apiRoot: server.apiRoot } });      // or the instance's api_root
 *
 *     const ann = server.person('Ann', { username: 'ann' });                           // her private chat has the id ann.id
 *     server.say({ from: ann, text: '/start' });
 *     const work = server.supergroup('Work', [ann], true);                             // with topics
 *     const plans = server.openTopic(work.id, ann, 'Plans');
 *     server.say({ from: ann, chat: work.id, thread: plans, text: '@the_test_bot hello' });
 *     await expect.poll(() => server.replies(work.id, plans).map(({ text }) => text)).toEqual(['…']);
 *     server.press(message, ann, 'Yes').answer                                         // null until the bot answers the press
 *
 * `limits: {}` sets the documented limits; breaking them is answered by 429 and recorded in `offences`; `failNext` and `fault` let
 * requests fail; `updateFaults` sends updates twice and out of order; `hasDrafts: false` is an older server. A webhook on
 * `http://127.0.0.1:…` is allowed, as on a self-hosted server.
 */
export async function startTelegramServer(options: TelegramServerOptions = {}): Promise<TelegramServer> {
  const { port = 0, token = '7001:AAtest-token_of-the-bot', clock = systemClock, timeScale = 1, webhookRetryMs = 50 } = options;
  const violations: string[] = [];
  const noFaults = (updates: TelegramUpdate[]) => updates;
  const updates = createUpdates(clock, options.updateFaults === undefined ? noFaults : createUpdateFaults(options.updateFaults));
  const limits = createLimits(options.limits === undefined ? null : { ...usualLimits, ...options.limits }, clock, timeScale);
  const platform: Platform = {
    bot: createBot(token, options),
    chats: createChats(clock),
    files: createFiles(),
    limits,
    updates,
    webhook: createWebhook(updates, clock, webhookRetryMs),
    description: readApiDescription(),
    note: (fault) => violations.push(fault),
    presses: new Map(),
  };
  const calls = createCalls(platform);
  const { failNext, choose } = createFaults();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, isFile, given = '', rest = ''] = /^(\/file)?\/bot([^/]+)\/([^?]+)/.exec(request.url ?? '') ?? [];
    if (given === '') return send(response, new ApiError(404, 'Not Found'));
    if (decodeURIComponent(given) !== token) return send(response, new ApiError(401, 'Unauthorized'));
    if (isFile !== undefined)
      return sendFile(platform, response, decodeURIComponent(rest), choose(server, { method: 'file', params: {} }));
    const gone = new Promise((resolve) => void response.once('close', () => resolve(undefined)));
    const call = await calls.read(request, rest, gone);
    const fault = call instanceof ApiError ? undefined : choose(server, call);
    if (fault === 'cut before') return void response.destroy();
    if (isTooMany(fault)) return send(response, tooManyRequests(fault.retryAfterS));
    const result = call instanceof ApiError ? call : takesEffect(fault) ? await calls.run(call) : {};
    if (!(call instanceof ApiError)) noteAnswer(call, response, fault);
    send(response, result, fault);
  };
  const httpServer = http.createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      violations.push(`this server failed: ${error instanceof Error ? error.stack : String(error)}`);
      response.destroy();
    });
  });
  const { url, close } = await listen(httpServer, port);

  const server: TelegramServer = {
    ...createPeople(platform),
    ...createPeopleChats(platform),
    apiRoot: url,
    token,
    bot: platform.bot,
    calls: calls.recorded,
    violations,
    offences: limits.offences,
    fault: () => undefined,
    failNext,
    messages: (chat) => viewChat(platform.chats, chat),
    replies: (chat, thread) =>
      viewChat(platform.chats, chat).filter(
        (one) => one.isBot && !one.isDeleted && (thread === undefined || one.thread === thread),
      ),
    drafts: (chat) => [...platform.chats.state(chat).drafts.values()],
    actions: (chat) => platform.chats.state(chat).actions,
    pendingUpdates: () => updates.pending,
    get confirmed() {
      return updates.confirmed;
    },
    addUpdate: (kind, body) => updates.add(kind, body),
    cutConnections: () => httpServer.closeAllConnections(),
    close() {
      platform.webhook.close();
      return close();
    },
  };
  return server;
}

function noteAnswer({ record }: ReadCall, response: ServerResponse, fault: PlatformFault | undefined): void {
  const isTrue = fault === undefined || (typeof fault === 'object' && 'slowMs' in fault);
  response.once('finish', () => (record.isAnswered = isTrue));
}

const createBot = (token: string, options: TelegramServerOptions): BotProfile => ({
  user: { id: Number.parseInt(token), is_bot: true, first_name: 'Test bot', username: options.username ?? 'the_test_bot' },
  readsAllMessages: options.readsAllMessages ?? true,
  hasDrafts: options.hasDrafts ?? true,
  commands: new Map(),
});

function sendFile({ files }: Platform, response: ServerResponse, path: string, fault?: TelegramFault): void {
  if (fault === 'cut before') return void response.destroy();
  const file = files.byPath(path);
  if (file === undefined) return send(response, new ApiError(404, 'Not Found'));
  if (isTooMany(fault)) return send(response, tooManyRequests(fault.retryAfterS));
  answerWith(response, 200, file.bytes, 'application/octet-stream', fault);
}

function send(response: ServerResponse, result: unknown, fault?: PlatformFault): void {
  const { status, body } =
    result instanceof ApiError
      ? {
          status: result.status,
          body: { ok: false, error_code: result.status, description: result.message, parameters: result.parameters },
        }
      : { status: 200, body: { ok: true, result } };
  answerWith(response, status, Buffer.from(JSON.stringify(body)), 'application/json', fault);
}
