import type { FastifyReply, FastifyRequest } from 'fastify';
import { envelopeSchema, type Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult, TurnFrame } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { openSse, sseFrame } from '@svc/service-kit/http/sse.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { createOrderedWriter, longJson } from '@svc/service-kit/redaction/ordered-writer.ts';
import type { OpenFeeds } from '../feed/open-feeds.ts';
import type { Pipeline } from './pipeline.ts';
import type { Caller, TurnSink } from './turn.ts';

/** How long a reader of a streamed turn may take for a long frame. */
const drainMs = 30_000;

type Deps = {
  pipeline: Pick<Pipeline, 'handle' | 'pendingAcks'>;
  feeds: OpenFeeds;
  knownSecrets: Pick<KnownSecrets, 'mask'>;
  clock: Clock;
  log: Pick<Log, 'error'>;
};

/** `POST /v2/handle`: JSON, or the turn as it runs with `Accept: text/event-stream` (spec: Handling details). */
export function mountTurnRoutes(app: App, deps: Deps): void {
  app.post('/v2/handle', { schema: { body: envelopeSchema } }, async (request, reply) => {
    const envelope = request.body as Envelope;
    if (wantsStream(request)) return streamTurn(deps, envelope, request, reply);
    const handled = await deps.pipeline.handle(envelope, callerOf(reply, null), request.id);
    confirmWhenSent(deps, handled, reply);
    return handled;
  });
}

const wantsStream = (request: FastifyRequest) => request.headers.accept?.includes('text/event-stream') === true;

const callerOf = ({ raw }: FastifyReply, sink: TurnSink | null): Caller => ({ sink, isGone: () => raw.destroyed });

/** A reply that was written whole was delivered; a caller that was gone by then did not get it. */
function confirmWhenSent(
  { pipeline: { pendingAcks }, log }: Deps,
  { turn_id, actions }: HandleResult,
  { raw }: FastifyReply,
): void {
  if (actions.length === 0) return;
  if (raw.destroyed) return pendingAcks.callerGone(turn_id);
  pendingAcks.accepted(turn_id);
  raw.once('close', () => {
    if (!raw.writableFinished) return pendingAcks.abandoned(turn_id);
    pendingAcks.delivered(turn_id).catch((error: unknown) => log.error({ err: error }, 'a delivered reply could not be marked'));
  });
}

async function streamTurn(deps: Deps, envelope: Envelope, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const stream = openSse(reply, deps.clock);
  const closeFeed = deps.feeds.add(stream);
  const ordered = createOrderedWriter(deps.knownSecrets.mask, (error) => {
    request.log.error({ err: error }, 'a frame of a turn could not be masked');
    reply.raw.destroy();
  });
  const send = (frame: TurnFrame) =>
    ordered(frame, (json) => {
      stream.send(sseFrame(frame.type, json));
      // A long one takes its reader a moment: the next waits for it instead of counting as unread.
      if (json.length > longJson) return stream.drained(drainMs).then(() => undefined);
    });
  try {
    const caller = callerOf(reply, (frame) => void send(frame));
    const result = await deps.pipeline.handle(envelope, caller, request.id);
    confirmWhenSent(deps, result, reply);
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
