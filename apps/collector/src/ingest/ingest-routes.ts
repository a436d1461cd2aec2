import type { IncomingHttpHeaders } from 'node:http';
import { eventSchema } from '@svc/contract/event.ts';
import { maskedByHeader } from '@svc/service-kit/telemetry/send-events.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CollectorContext } from '../context.ts';

const answerSchema = {
  type: 'object',
  required: ['ingested', 'rejected'],
  properties: {
    ingested: { type: 'integer', description: 'Events taken, also those that were stored before under their id' },
    rejected: {
      type: 'array',
      items: {
        type: 'object',
        required: ['index', 'error'],
        properties: { index: { type: 'integer' }, error: { type: 'string' } },
      },
    },
  },
} as const;

/** The body is only described here: each event is checked by itself, so that a bad one does not cost the others. */
const schema = { body: { oneOf: [eventSchema, { type: 'array', items: eventSchema }] }, response: { 200: answerSchema } };

type Deps = Pick<CollectorContext, 'commitQueue' | 'readAuth' | 'maskIncoming'>;

/** The core is not asked for its own events. Others could say that they are the core: nothing else depends on this. */
const isOfCore = (headers: IncomingHttpHeaders): boolean => headers[maskedByHeader] === 'core';

export function mountIngestRoutes(app: App, { commitQueue, readAuth, maskIncoming }: Deps): void {
  void app.register(async (ingest) => {
    // An event may hold any field, also a name such as __proto__: it is stored as text and never merged into an object.
    ingest.takeJson({ isChecked: false });
    const options = { onRequest: readAuth, schema, validatorCompiler: () => () => true };
    ingest.post<{ Body: unknown }>('/ingest', options, async ({ body, headers }) => {
      const events: unknown[] = Array.isArray(body) ? body : [body];
      return commitQueue.submit(await maskIncoming(events, { isOfCore: isOfCore(headers) }));
    });
  });
}
