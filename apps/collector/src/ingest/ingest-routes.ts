import type { IncomingHttpHeaders } from 'node:http';
import { eventSchema } from '@svc/contract/event.ts';
import { maskedByHeader } from '@svc/service-kit/telemetry/send-events.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CollectorContext } from '../context.ts';

const answerSchema = {
  type: 'object',
  required: ['ingested', 'rejected'],
  properties: {
    ingested: { type: 'integer', description: 'Accepted events, including those already stored under their id' },
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

/**
 * The schema only documents. Each event is checked separately, so that an invalid one does not affect the others; and the library that
 * compiles writers of answers takes longer to load than all such answers of a day to write.
 */
const schema = { body: { oneOf: [eventSchema, { type: 'array', items: eventSchema }] }, response: { 200: answerSchema } };

type Deps = Pick<CollectorContext, 'commitQueue' | 'readAuth' | 'maskIncoming'>;

/** The core masks its own events, so it is not asked about them. Another producer could claim to be the core; nothing else depends on this. */
const isOfCore = (headers: IncomingHttpHeaders): boolean => headers[maskedByHeader] === 'core';

export function mountIngestRoutes(app: App, { commitQueue, readAuth, maskIncoming }: Deps): void {
  void app.register(async (ingest) => {
    // An event may contain any field name, even __proto__: it is stored as text and never merged into an object.
    ingest.takeJson({ isChecked: false });
    const options = {
      onRequest: readAuth,
      schema,
      validatorCompiler: () => () => true,
      serializerCompiler: () => JSON.stringify,
    };
    ingest.post<{ Body: unknown }>('/ingest', options, async ({ body, headers }) => {
      const events: unknown[] = Array.isArray(body) ? body : [body];
      return commitQueue.submit(await maskIncoming(events, { isOfCore: isOfCore(headers) }));
    });
  });
}
