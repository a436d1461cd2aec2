import { createSseWriter } from '@svc/connector-kit/http/sse-writer.ts';
import { isNewSessionName, newSessionName } from '@svc/connector-kit/conversation-key.ts';
import { sendJson, type Exchange } from '@svc/connector-kit/http/exchange.ts';
import type { Route } from '@svc/connector-kit/http/route-table.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { sessionNameOf, withFiles, type ChatDeps } from './chat-completions.ts';
import { admitted, refuse } from './completion-error.ts';
import type { ChatRequest } from './parse-request.ts';
import { parseResponseRequest } from './parse-response-request.ts';
import { shapedReply } from './render-completion.ts';
import { createResponseFrames, toResponse, type ResponseHead } from './render-response.ts';
import { shownError, showTurn } from './stream-completion.ts';
import { toEnvelope } from './to-envelope.ts';

/**
 * `POST /v1/responses`: the same turn in the newer protocol. A response begins a conversation, or continues that of `previous_response_id`:
 * its id contains the conversation's name.
 */
export function createResponses(deps: ChatDeps): Route['handle'] {
  const { clock, ids, messageIds, identify, readJson, seen, attachFiles, instanceId, modelName, isOnce } = deps;

  return async (exchange) => {
    const caller = identify(exchange);
    const { request, previousId } = parseResponseRequest(await readJson(exchange.req));
    const messageId = messageIds.idOf(exchange, caller, request, previousId);
    const own = previousId === null ? sessionNameOf(exchange, caller, messageId) : nameIn(previousId);
    const name = own ?? newSessionName(caller.identity, messageId);
    // A conversation with a generated name is kept as long as the instance keeps unnamed ones.
    const sessionName = isOnce && isNewSessionName(name) ? null : name;
    const facts = { request, caller, instanceId, messageId, sessionName, isOnce, onceName: name };
    const message = toEnvelope({ ...facts, isSeen: seen.has });
    const envelope = await withFiles({ seen, attachFiles }, message, request);
    if (request.ignored.length > 0) exchange.res.setHeader('x-ignored-parameters', request.ignored.join(', '));
    const suffix = ids.next('x').slice(2);
    const head = {
      id: `resp_${Buffer.from(name).toString('base64url')}.${suffix}`,
      itemId: `msg_${suffix}`,
      created: Math.floor(clock.now() / 1000),
      model: modelName,
      previousId,
    };
    const result = await (request.stream ? stream : complete)({ deps, exchange, envelope, head, request });
    if (result?.outcome === 'replied' || result?.outcome === 'silent') seen.add(envelope.conversation_key);
  };
}

/** The conversation's name in a response id. With another caller's id, the result is a conversation of one's own. */
function nameIn(responseId: string): string {
  const encoded = /^resp_([\w-]{1,400})\.[\w-]{1,64}$/.exec(responseId)?.[1];
  const name = encoded === undefined ? '' : Buffer.from(encoded, 'base64url').toString('latin1');
  if (/^[\x21-\x7e]{1,200}$/.test(name)) return name;
  throw refuse(
    'previous_response_id',
    "'previous_response_id' is not the id of a response of this service.",
    'previous_response_not_found',
  );
}

type Asked = { deps: ChatDeps; exchange: Exchange; envelope: Envelope; head: ResponseHead; request: ChatRequest };

async function complete({ deps, exchange, envelope, head, request }: Asked): Promise<HandleResult> {
  const result = admitted(await deps.core.handle(envelope, { requestId: exchange.requestId }));
  const text = shapedReply(result, request);
  sendJson(exchange, { status: 200, body: JSON.stringify(toResponse(head, text, result.usage)) });
  return result;
}

/** Like a chat completion: an error before the first frame is a plain error reply, later it is a frame. */
async function stream({ deps, exchange, envelope, head, request }: Asked): Promise<HandleResult | null> {
  const writer = createSseWriter(exchange, deps.clock);
  const frames = createResponseFrames(head);
  let [shown, hasBegun] = ['', false];
  const show = (text: string) => {
    if (!hasBegun) writer.send(frames.begin());
    hasBegun = true;
    shown += text;
    if (text !== '') writer.send(frames.text(text));
  };
  try {
    const result = await showTurn({ exchange, core: deps.core, envelope, shape: request }, show);
    writer.send(frames.finish(shown, result.usage));
    writer.end();
    return result;
  } catch (error) {
    if (!writer.isOpen()) throw error;
    writer.send(frames.error(shownError(error)));
    writer.end();
    if (!(error instanceof ServiceError)) throw error;
    return null;
  }
}
