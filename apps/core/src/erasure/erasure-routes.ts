import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Erasures } from './erasures.ts';

const query = { type: 'object', properties: { keep_shared: { enum: ['0', '1'] } } } as const;
const body = { type: 'object', additionalProperties: false, properties: { keep_shared: { type: 'boolean' } } } as const;
const params = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } as const;

/** Erases all stored data of a person. `:id` is an id or a key; `keep_shared` keeps conversations in which others took part. */
export function mountErasureRoutes(app: App, { erasures }: { erasures: Erasures }): void {
  app.get('/trust/principals/:id/erasure', { schema: { params, querystring: query } }, (request) =>
    erasures.plan(request.params.id, request.query.keep_shared === '1'),
  );
  app.post('/trust/principals/:id/erase', { schema: { params, body } }, ({ params: { id }, body: { keep_shared }, actor }) =>
    erasures.erase(actor, id, keep_shared === true),
  );
}
