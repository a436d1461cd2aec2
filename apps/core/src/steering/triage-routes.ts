import { triageSchema, type TriageRequest, type TriageResult } from '@svc/contract/triage.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { speakerOf } from '../speech/speaker.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { EnginesDeps } from './side-call.ts';
import { createTriage } from './triage.ts';

type Deps = EnginesDeps & { trust: Pick<TrustService, 'resolve'>; connectorPasses: Pick<ConnectorPasses, 'check'> };

/** The sender for whom a connector makes the request. */
const query = { type: 'object', properties: { sender: { type: 'string', minLength: 1, maxLength: 256 } } } as const;

/** `POST /v2/triage`: a request to an engine outside of turns, with a structured answer. */
export function mountTriageRoutes(app: App, deps: Deps): void {
  const triage = createTriage(deps);
  app.post(
    '/v2/triage',
    { schema: { body: triageSchema, querystring: query } },
    async (request, reply): Promise<TriageResult> => {
      const speaker = await speakerOf(deps, request, request.query.sender);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      // The cast: the caller chooses the field names, which the inferred type does not know.
      return { ok: true, answer: await triage.ask(request.body as TriageRequest, gone.signal, speaker) };
    },
  );
}
