import type { BaseUrlSet } from '@svc/contract/engine.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { hasResponses, lookAtModelServer } from './look-at-model-server.ts';
import { newer } from './offer-model-servers.ts';

const maxLength = 2048;

/** An address as it is kept, without a slash at its end; null to clear it, or what is wrong with it. */
export function checkBaseUrl(text: string): { url: string } | { problem: string } | null {
  if (text === '') return null;
  // Blanks and line breaks would be dropped in silence.
  if (text.length > maxLength || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return { problem: wrong };
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return { problem: wrong };
  if (username !== '' || password !== '') {
    return { problem: 'The address must hold no name or password. Give the key with "./svc engine key codex".' };
  }
  if (search !== '' || hash !== '') return { problem: 'The address must end with its path: no "?" and no "#".' };
  return { url: text.replace(/\/+$/, '') };
}

const wrong = 'It takes an http or https address, such as http://127.0.0.1:11434/v1, or nothing to clear it.';

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
    warnings: ['It offers no model to talk to: all of its models make vectors, transcribe or speak. Load a chat model there.'],
  };
}
