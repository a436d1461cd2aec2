import type { CoreApi } from '@svc/connector-kit/connector.ts';
import { newSessionName } from '@svc/connector-kit/conversation-key.ts';
import { sendJson, type Exchange } from '@svc/connector-kit/http/exchange.ts';
import type { JsonReader } from '@svc/connector-kit/http/read-json.ts';
import type { Route } from '@svc/connector-kit/http/route-table.ts';
import type { Caller } from '@svc/connector-kit/keys-file.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { AttachFiles } from './attach-files.ts';
import { admitted } from './completion-error.ts';
import { headerText } from './header-text.ts';
import type { MessageIds } from './message-ids.ts';
import { parseRequest, takeFiles, type ChatRequest } from './parse-request.ts';
import { renderCompletion, shapedReply, type ReplyHead, type ReplyShape } from './render-completion.ts';
import { streamCompletion } from './stream-completion.ts';
import { toEnvelope } from './to-envelope.ts';

/** Identifies the caller of a request; throws for an unknown one. */
export type Identify = (exchange: Exchange) => Caller;

export type ChatDeps = {
  core: CoreApi;
  clock: Clock;
  ids: Ids;
  messageIds: MessageIds;
  identify: Identify;
  readJson: JsonReader;
  seen: SeenKeys;
  attachFiles: AttachFiles;
  instanceId: string;
  modelName: string;
  /** True when each request without a session name is a conversation of its own. */
  isOnce: boolean;
};

/**
 * `POST /v1/chat/completions`: one request is one turn, answered as a whole or as a stream. A reader that disconnects does not stop the
 * turn.
 */
export function createChatCompletions(deps: ChatDeps): Route['handle'] {
  const { core, clock, ids, messageIds, identify, readJson, seen, attachFiles, instanceId, modelName, isOnce } = deps;

  return async (exchange) => {
    const caller = identify(exchange);
    const request = parseRequest(await readJson(exchange.req));
    const messageId = messageIds.idOf(exchange, caller, request);
    const sessionName = sessionNameOf(exchange, caller, messageId);
    const message = toEnvelope({ request, caller, instanceId, messageId, sessionName, isOnce, isSeen: seen.has });
    const envelope = await withFiles({ seen, attachFiles }, message, request);
    if (request.ignored.length > 0) exchange.res.setHeader('x-ignored-parameters', request.ignored.join(', '));
    const head = { id: ids.next('chatcmpl').replace('_', '-'), created: Math.floor(clock.now() / 1000), model: modelName };
    const result = request.stream
      ? await streamCompletion({ exchange, core, clock, envelope, head, shape: request, includeUsage: request.includeUsage })
      : await complete({ core, exchange, envelope, head, shape: request });
    // A command may have begun a new conversation, and a blocked message never reached this one.
    if (result?.outcome === 'replied' || result?.outcome === 'silent') seen.add(envelope.conversation_key);
  };
}

/** The message with the files of its request. Only this function holds them, and not while the turn runs. */
export async function withFiles(
  { seen, attachFiles }: Pick<ChatDeps, 'seen' | 'attachFiles'>,
  message: Envelope,
  request: ChatRequest,
): Promise<Envelope> {
  const files = request.hasFiles ? takeFiles(request, seen.has(message.conversation_key)) : [];
  return files.length === 0 ? message : attachFiles(message, files);
}

type Asked = { core: CoreApi; exchange: Exchange; envelope: Envelope; head: ReplyHead; shape: ReplyShape };

async function complete({ core, exchange, envelope, head, shape }: Asked): Promise<HandleResult> {
  const result = admitted(await core.handle(envelope, { requestId: exchange.requestId }));
  sendJson(exchange, { status: 200, body: renderCompletion(head, result, shapedReply(result, shape)) });
  return result;
}

/**
 * The session that the caller names; null without a name. For `new`, a name is derived from the message and returned with the answer, so
 * that the caller can continue the session.
 */
export function sessionNameOf(exchange: Exchange, caller: Caller, messageId: string): string | null {
  const asked = headerText(exchange, 'x-session-key');
  if (asked !== 'new') return asked;
  const name = newSessionName(caller.identity, messageId);
  exchange.res.setHeader('x-session-key', name);
  return name;
}

export type SeenKeys = { has(key: string): boolean; add(key: string): void };

/**
 * Conversations that got a reply from this process: the most recent `limit` of them, and up to as many older ones. Two generations, because
 * removing the oldest from a set one by one costs more than the rest of a request.
 */
export function createSeenKeys(limit: number): SeenKeys {
  let recent = new Set<string>();
  let older = new Set<string>();
  return {
    has: (key) => recent.has(key) || older.has(key),
    add(key) {
      if (recent.size >= limit && !recent.has(key)) {
        older = recent;
        recent = new Set();
      }
      recent.add(key);
    },
  };
}
