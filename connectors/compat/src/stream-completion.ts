import type { CoreApi } from '@svc/connector-kit/connector.ts';
import type { Exchange } from '@svc/connector-kit/http/exchange.ts';
import { createSseWriter } from '@svc/connector-kit/http/sse-writer.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { admitted } from './admitted.ts';
import { errorFrame } from './completion-error.ts';
import { createChunkRenderer, doneFrame, replyText, type ReplyHead } from './render-completion.ts';

type StreamFacts = {
  exchange: Exchange;
  core: CoreApi;
  clock: Clock;
  envelope: Envelope;
  head: ReplyHead;
  includeUsage: boolean;
};

/**
 * Streams one turn. Until its first frame a failure is thrown and becomes a plain error reply; after it, an error frame.
 * The last frame is always `[DONE]`. Null when the turn failed in mid-stream.
 */
export async function streamCompletion(facts: StreamFacts): Promise<HandleResult | null> {
  const { exchange, core, clock, envelope, head, includeUsage } = facts;
  const writer = createSseWriter(exchange, clock);
  const chunk = createChunkRenderer(head);
  let streamed = '';
  let hasRole = false;

  const sendText = (text: string) => {
    if (!hasRole) writer.send(chunk.role());
    hasRole = true;
    streamed += text;
    if (text !== '') writer.send(chunk.text(text));
  };
  try {
    const turn = core.handleStream(envelope, { onDelta: sendText }, { requestId: exchange.requestId });
    const result = admitted(await turn);
    sendText(unsentText(replyText(result.actions), streamed));
    writer.send(chunk.finish());
    if (includeUsage) writer.send(chunk.usage(result.usage));
    writer.send(doneFrame);
    writer.end();
    return result;
  } catch (error) {
    if (!writer.isOpen()) throw error;
    writer.send(errorFrame(shownError(error)) + doneFrame);
    writer.end();
    if (!(error instanceof ServiceError)) throw error;
    return null;
  }
}

/** What of the reply was not streamed: all of it from an engine without deltas, nothing when the reply was changed since. */
const unsentText = (reply: string, streamed: string): string => (reply.startsWith(streamed) ? reply.slice(streamed.length) : '');

/** Errors of the core are made to be shown; anything else stays inside. */
const shownError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal', 'The turn failed here.');
