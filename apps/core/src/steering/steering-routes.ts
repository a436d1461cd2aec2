import type { App } from '@svc/service-kit/http/create-app.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../context.ts';

const abortBody = {
  type: 'object',
  required: ['conversation_key'],
  properties: { conversation_key: { type: 'string', minLength: 1, maxLength: 512 } },
} as const;

/** `POST /v2/abort`: ends the running turn of a session, silently toward its channel (spec: Session control). */
export function mountSteeringRoutes(app: App, { turnQueue }: Pick<CoreContext, 'turnQueue'>): void {
  app.post('/v2/abort', { schema: { body: abortBody } }, ({ body }) => {
    if (!turnQueue.abort(body.conversation_key, 'operator')) {
      throw new ServiceError('not_found', `Nothing is in flight for "${body.conversation_key}".`);
    }
    return { ok: true, aborted: body.conversation_key };
  });
}
