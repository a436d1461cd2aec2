import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';
import { bot, createBotRoutes, type BotCall, type PlatformRules } from './bot-routes.ts';
import { createChatHistory } from './chat-history.ts';
import { answerWith, takesEffect, type ChooseFault, type PlatformFault } from './platform-faults.ts';
import { PlatformRefusal, type StoredMessage } from './platform-types.ts';
import { createPlatformUsers, type PlatformUsers } from './platform-users.ts';
import { createUpdatePolls } from './update-polls.ts';

export type ChatPlatformOptions = Partial<PlatformRules> & { port?: number; token?: string; clock?: Clock };

/** A request of the bot and its answer; without a status when there was none. */
export type RecordedCall = { method: string; path: string; json: Record<string, unknown>; status: number | null; code?: string };

export type ChatPlatform = PlatformUsers & {
  url: string;
  /** The token that the bot must send, as `Authorization: Bot TOKEN`. */
  token: string;
  rules: PlatformRules;
  /** All authenticated requests, in order. */
  calls: RecordedCall[];
  /** The faults of requests; none at first. */
  fault: ChooseFault;
  /** Gives each of the next requests whose "METHOD /path" matches one of these faults. */
  failNext(fits: RegExp, ...faults: PlatformFault[]): void;
  /** The bot's messages in a chat, in order, including deleted ones. */
  replies(chatId: string): StoredMessage[];
  /** The id of the last update that a poll has confirmed. */
  readonly passed: number;
  /** Cuts all connections, as in a restart of the platform. */
  cutConnections(): void;
  close(): Promise<void>;
};

const usualRules: PlatformRules = {
  maxText: 500,
  dedupesNonces: false,
  findsNonces: false,
  limit: { burst: 20, perMs: 50, penaltyMs: 1000 },
};

/**
 * A small, typical chat platform on loopback: a bot with a token polls for updates and posts, edits and deletes
 * messages within limits. A test plays the users, sets faults, and reads what the bot has shown.
 */
export async function startChatPlatform(options: ChatPlatformOptions = {}): Promise<ChatPlatform> {
  const { port = 0, token = 'the-token-of-the-bot', clock = systemClock, ...chosen } = options;
  const rules = { ...usualRules, ...chosen };
  const history = createChatHistory();
  const polls = createUpdatePolls(history, clock);
  const run = createBotRoutes(history, rules, clock);
  const queued: { fits: RegExp; fault: PlatformFault }[] = [];

  const takeFault = ({ method, path }: BotCall): PlatformFault | undefined => {
    const at = queued.findIndex(({ fits }) => fits.test(`${method} ${path}`));
    return at === -1 ? platform.fault({ method, path }) : queued.splice(at, 1)[0]?.fault;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.headers.authorization !== `Bot ${token}`) return send(response, new PlatformRefusal(401, 'wrong_token'));
    const call = await readCall(request);
    const record: RecordedCall = { method: call.method, path: call.path, json: call.json, status: null };
    platform.calls.push(record);
    const fault = takeFault(call);
    if (fault === 'cut before') return void response.destroy();
    const isPoll = call.method === 'GET' && call.path === '/updates';
    const result = await attempt(() => (!takesEffect(fault) ? {} : isPoll ? polls.wait(call.query, response) : run(call)));
    record.status = result instanceof PlatformRefusal ? result.status : 200;
    if (result instanceof PlatformRefusal) record.code = result.code;
    send(response, result, fault);
  };
  const server = http.createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const { url, close } = await listen(server, port);
  const platform: ChatPlatform = {
    ...createPlatformUsers(history),
    url,
    token,
    rules,
    calls: [],
    fault: () => undefined,
    failNext: (fits, ...faults) => queued.push(...faults.map((fault) => ({ fits, fault }))),
    replies: (chatId) => history.messagesOf(bot, chatId),
    get passed() {
      return polls.passed;
    },
    cutConnections: () => server.closeAllConnections(),
    close,
  };
  return platform;
}

async function attempt(work: () => Promise<object> | object): Promise<object> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlatformRefusal) return error;
    throw error;
  }
}

function send(response: ServerResponse, result: object, fault?: PlatformFault): void {
  if (result instanceof PlatformRefusal) {
    const { status, code, retryAfterS } = result;
    const body = { error: code, ...(retryAfterS !== null && { retry_after: retryAfterS }) };
    return answerWith(response, status, Buffer.from(JSON.stringify(body)), 'application/json', fault);
  }
  if (result instanceof Uint8Array) return answerWith(response, 200, Buffer.from(result), 'application/octet-stream', fault);
  answerWith(response, 200, Buffer.from(JSON.stringify(result)), 'application/json', fault);
}

async function readCall(request: IncomingMessage): Promise<BotCall> {
  const url = new URL(request.url ?? '/', 'http://x');
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts);
  const type = request.headers['content-type'] ?? 'application/octet-stream';
  const isJson = type.startsWith('application/json') && body.length > 0 && !url.pathname.endsWith('/files');
  const json = isJson ? (JSON.parse(body.toString('utf8')) as Record<string, unknown>) : {};
  return { method: request.method ?? '', path: url.pathname, query: url.searchParams, json, body, type };
}
