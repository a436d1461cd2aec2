import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { openSse, sseFrame } from '@svc/service-kit/http/sse.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { createOrderedWriter, longJson } from '@svc/service-kit/redaction/ordered-writer.ts';
import type { OpenFeeds } from '../feed/open-feeds.ts';
import type { Caller, TurnSink } from './turn.ts';

export type StreamDeps = { feeds: OpenFeeds; knownSecrets: Pick<KnownSecrets, 'mask'>; clock: Clock };

type StreamedFrame =
  | TurnProgress
  | { type: 'accepted'; turn_id: string }
  | { type: 'result'; result: unknown }
  | { type: 'error'; error: ErrorBody };

/** How long a reader of a streamed turn may take for a long frame. */
const drainMs = 30_000;

export const wantsStream = (request: FastifyRequest): boolean => request.headers.accept?.includes('text/event-stream') === true;

/** The client can show questions to a person. */
const wantsAsks = ({ query }: FastifyRequest): boolean => (query as { asks?: string }).asks === 'true';

/** The client wants an event when the message is stored, before anything is answered. */
const wantsAccepted = ({ query }: FastifyRequest): boolean => (query as { accepted?: string }).accepted === 'true';

export const callerOf = ({ raw }: FastifyReply, sink: TurnSink | null = null): Caller => ({ sink, isGone: () => raw.destroyed });

/** Streams a turn: its frames, then `result` with what `run` returns, or `error`. */
export async function streamTurn(
  { feeds, knownSecrets, clock }: StreamDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  run: (caller: Caller) => Promise<unknown>,
): Promise<void> {
  const stream = openSse(reply, clock);
  const closeFeed = feeds.add(stream);
  const ordered = createOrderedWriter(knownSecrets.mask, (error) => {
    request.log.error({ err: error }, 'a frame of a turn could not be masked');
    reply.raw.destroy();
  });
  const send = (frame: StreamedFrame) =>
    ordered(frame, (json) => {
      stream.send(sseFrame(frame.type, json));
      // A client needs a moment for a long frame: the next one waits, so that it does not count as unread.
      if (json.length > longJson) return stream.drained(drainMs).then(() => undefined);
    });
  try {
    const caller = callerOf(reply, (frame: TurnProgress) => void send(frame));
    const onAccepted = (turnId: string) => void send({ type: 'accepted', turn_id: turnId });
    const result = await run({ ...caller, showsAsks: wantsAsks(request), ...(wantsAccepted(request) && { onAccepted }) });
    await send({ type: 'result', result });
  } catch (error) {
    const known = toServiceError(error);
    if (known.status >= 500) request.log.error({ err: error }, 'turn failed');
    await send({ type: 'error', error: known.toBody(request.id) });
  } finally {
    closeFeed();
    stream.close();
  }
}
