import { sendJson } from '@svc/connector-kit/http/exchange.ts';
import type { Route } from '@svc/connector-kit/http/route-table.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Identify } from './chat-completions.ts';
import { routeDocs } from './route-docs.ts';

type ModelOptions = {
  identify: Identify;
  modelName: string;
  /** Epoch ms; the models route reports it as the model's creation time. */
  startedAt: number;
};

/** The only advertised model. Its routes also require a key. */
export function createModelRoutes({ identify, modelName, startedAt }: ModelOptions): Route[] {
  const model = { id: modelName, object: 'model', created: Math.floor(startedAt / 1000), owned_by: 'svc' };
  const list = JSON.stringify({ object: 'list', data: [model] });
  const one = JSON.stringify(model);
  return [
    {
      method: 'GET',
      path: '/v1/models',
      doc: routeDocs.models,
      handle(exchange) {
        identify(exchange);
        sendJson(exchange, { status: 200, body: list });
      },
    },
    {
      method: 'GET',
      path: '/v1/models/:model',
      doc: routeDocs.model,
      handle(exchange) {
        identify(exchange);
        if (exchange.params['model'] !== modelName) throw unknownModel(modelName);
        sendJson(exchange, { status: 200, body: one });
      },
    },
  ];
}

const unknownModel = (modelName: string) =>
  new ServiceError('not_found', `Unknown model. The only model of this service is "${modelName}".`, {
    details: { param: 'model', code: 'model_not_found' },
  });
