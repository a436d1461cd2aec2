import type { BaseUrlSet } from '@svc/contract/engine.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { hasResponses, lookAtModelServer } from './look-at-model-server.ts';
import { newer } from './offer-model-servers.ts';

const timeoutMs = 3000;

/**
 * Whether codex can talk to a server, and the models it offers; no token is spent and no key is sent.
 * @throws ServiceError 422 for one that answers without the Responses protocol.
 */
export async function checkEndpoint(url: string): Promise<Pick<BaseUrlSet, 'models' | 'warnings'>> {
  const found = await lookAtModelServer(url, { timeoutMs });
  if (found === null)
    return { models: [], warnings: [`Nothing lists models at ${url}/models just now. Start the server, or check the address.`] };
  const { models, others, responses } = found;
  if (responses !== null && !hasResponses(found)) {
    throw new ServiceError(
      'unprocessable',
      `${url} answers, but has no /responses (${responses}). Codex needs the Responses protocol. ${newer} Update the server, or name another: ./svc engine base-url codex URL`,
    );
  }
  if (models.length > 0 || others === 0) return { models, warnings: [] };
  return {
    models,
    warnings: ['It offers no model to talk to: all of its models make vectors, hear or speak. Load a chat model there.'],
  };
}
