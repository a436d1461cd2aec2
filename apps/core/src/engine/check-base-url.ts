import type { BaseUrlSet } from '@svc/contract/engine.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { hasResponses, lookAtModelServer } from './look-at-model-server.ts';
import { newer } from './offer-model-servers.ts';

const maxLength = 2048;

/** The address as it is stored, without a trailing slash; null to clear it, or what is wrong with it. */
export function checkBaseUrl(text: string): { url: string } | { problem: string } | null {
  if (text === '') return null;
  // The URL parser would silently drop blanks and line breaks.
  if (text.length > maxLength || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return { problem: wrong };
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return { problem: wrong };
  if (username !== '' || password !== '') {
    return { problem: 'The address must not contain a user name or password. Set the key with "./svc engine key codex".' };
  }
  if (search !== '' || hash !== '') return { problem: 'The address must not contain "?" or "#".' };
  return { url: text.replace(/\/+$/, '') };
}

const wrong = 'The address must begin with http:// or https://, such as http://127.0.0.1:11434/v1. An empty one clears it.';

const timeoutMs = 3000;

/**
 * Whether codex can talk to a server, and the models it offers; no token is spent and no key is sent.
 * @throws ServiceError 422 for a server that answers but lacks the Responses protocol.
 */
export async function checkEndpoint(url: string): Promise<Pick<BaseUrlSet, 'models' | 'warnings'>> {
  const found = await lookAtModelServer(url, { timeoutMs });
  if (found === null)
    return { models: [], warnings: [`No server lists its models at ${url}/models. Start the server, or check the address.`] };
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
    warnings: ['The server offers no chat model, only models for embeddings or speech. Load a chat model there.'],
  };
}
