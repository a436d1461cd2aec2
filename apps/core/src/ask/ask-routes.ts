import { answerSchema, type AnswerRequest, type OpenAsk } from '@svc/contract/ask.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { answerAsk, type AnswerDeps } from './answer-ask.ts';
import type { KeptAsk } from './open-asks.ts';

/** `GET /v2/asks`: the open questions. `POST /v2/asks/:id/answer`: a person's answer. */
export function mountAskRoutes(app: App, deps: AnswerDeps): void {
  app.get<{ Querystring: { conversation_key?: string; principal?: string } }>('/v2/asks', ({ query }) => {
    const isWanted = (ask: KeptAsk) =>
      (query.conversation_key ?? ask.conversation_key) === ask.conversation_key && (query.principal ?? ask.for) === ask.for;
    return { asks: deps.asks.list().filter(isWanted).map(toOpenAsk) };
  });

  app.post<{ Params: { id: string } }>('/v2/asks/:id/answer', { schema: { body: answerSchema } }, async ({ params, body }) => ({
    ok: true,
    ...(await answerAsk(deps, params.id, body as AnswerRequest)),
  }));
}

const toOpenAsk = ({ public: _public, ...ask }: KeptAsk): OpenAsk => ask;
