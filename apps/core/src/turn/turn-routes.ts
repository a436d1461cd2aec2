import type { FastifyReply, FastifyRequest } from 'fastify';
import { envelopeSchema, type Envelope } from '@svc/contract/envelope.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { openSse, sseFrame } from '@svc/service-kit/http/sse.ts';
import type { CoreContext } from '../context.ts';
import { handleEnvelope } from './handle-envelope.ts';
import { silentSink } from './turn.ts';

/** `POST /v2/handle`: JSON, or the turn as it runs with `Accept: text/event-stream` (spec: Handling details). */
export function mountTurnRoutes(app: App, context: CoreContext): void {
  app.post('/v2/handle', { schema: { body: envelopeSchema } }, (request, reply) => {
    const envelope = request.body as Envelope;
    return wantsStream(request)
      ? streamTurn(context, envelope, request, reply)
      : handleEnvelope(context, envelope, { sink: silentSink, requestId: request.id });
  });
}

const wantsStream = (request: FastifyRequest) => request.headers.accept?.includes('text/event-stream') === true;

async function streamTurn(context: CoreContext, envelope: Envelope, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const stream = openSse(reply, context.clock);
  const closeFeed = context.feeds.add(stream);
  try {
    const result = await handleEnvelope(context, envelope, {
      requestId: request.id,
      sink: (progress) => stream.send(sseFrame(progress.type, progress)),
    });
    stream.send(sseFrame('result', { type: 'result', result }));
  } catch (error) {
    const known = toServiceError(error);
    if (known.status >= 500) request.log.error({ err: error }, 'turn failed');
    stream.send(sseFrame('error', { type: 'error', error: known.toBody(request.id) }));
  } finally {
    closeFeed();
    stream.close();
  }
}
