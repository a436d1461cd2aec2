import type { FastifyReply } from 'fastify';
import { amendmentSchema, type Amendment } from '@svc/contract/amend.ts';
import { envelopeSchema, type Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Pipeline } from './pipeline.ts';
import { callerOf, streamTurn, wantsStream, type StreamDeps } from './stream-turn.ts';

type Deps = StreamDeps & {
  pipeline: Pick<Pipeline, 'handle' | 'amend' | 'pendingAcks'>;
  log: Pick<Log, 'error'>;
};

/** `POST /v2/amend`, and `POST /v2/handle`: JSON, or with `Accept: text/event-stream` a stream of the turn (spec: Handling details). */
export function mountTurnRoutes(app: App, deps: Deps): void {
  app.post('/v2/handle', { schema: { body: envelopeSchema } }, async (request, reply) => {
    const envelope = request.body as Envelope;
    if (wantsStream(request)) {
      return streamTurn(deps, request, reply, async (caller) => {
        const handled = await deps.pipeline.handle(envelope, caller, request.id);
        confirmWhenSent(deps, handled, reply);
        return handled;
      });
    }
    const handled = await deps.pipeline.handle(envelope, callerOf(reply), request.id);
    confirmWhenSent(deps, handled, reply);
    return handled;
  });

  app.post('/v2/amend', { schema: { body: amendmentSchema } }, async (request) => ({
    ok: true,
    ...(await deps.pipeline.amend(request.body as Amendment, request.id)),
  }));
}

/** A reply that was written completely counts as delivered; a caller that had disconnected by then did not get it. */
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
