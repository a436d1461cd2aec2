import type { CoreApi } from '@svc/connector-kit/connector.ts';
import type { Exchange } from '@svc/connector-kit/http/exchange.ts';
import { createSseWriter } from '@svc/connector-kit/http/sse-writer.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { admitted, errorFrame } from './completion-error.ts';
import { createChunkRenderer, doneFrame, shapedReply, type ReplyHead, type ReplyShape } from './render-completion.ts';
import { ReplyRelay } from './reply-relay.ts';
import { createStopCutter } from './stop-text.ts';

/** A turn to show, and the form of its answer. */
export type TurnFacts = Pick<StreamFacts, 'exchange' | 'core' | 'envelope' | 'shape'>;

type StreamFacts = {
  exchange: Exchange;
  core: CoreApi;
  clock: Clock;
  envelope: Envelope;
  head: ReplyHead;
  shape: ReplyShape;
  includeUsage: boolean;
};

/**
 * Streams one turn. An error before the first frame is thrown and becomes a plain error reply; later it is sent as a frame. The last frame
 * is always `[DONE]`. Null when the turn failed after its first frame.
 */
export async function streamCompletion(facts: StreamFacts): Promise<HandleResult | null> {
  const { exchange, clock, head, includeUsage } = facts;
  const writer = createSseWriter(exchange, clock);
  const chunk = createChunkRenderer(head);
  let hasRole = false;

  const show = (text: string) => {
    if (!hasRole) writer.send(chunk.role());
    hasRole = true;
    if (text !== '') writer.send(chunk.text(text));
  };
  try {
    const result = await showTurn(facts, show);
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

/** Runs the turn and shows its text as it arrives; an answer that must be JSON is shown once it is known to be valid. */
export async function showTurn(facts: TurnFacts, show: (text: string) => void): Promise<HandleResult> {
  const { exchange, core, envelope, shape } = facts;
  const options = { requestId: exchange.requestId };
  if (shape.format !== null) {
    const whole = admitted(await core.handle(envelope, options));
    show(shapedReply(whole, shape));
    return whole;
  }
  const cutter = createStopCutter(shape.stops, show);
  const relay = new ReplyRelay(cutter.push);
  const result = admitted(await core.handleStream(envelope, relay, options));
  relay.finish(result, envelope.message_id ?? '');
  cutter.end();
  return result;
}

/** Errors of the core are meant to be shown; details of all others stay internal. */
export const shownError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal', 'The turn failed because of an internal error.');
