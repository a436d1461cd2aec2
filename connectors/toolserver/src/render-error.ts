import type { Reply } from '@svc/connector-kit';
import type { ServiceError } from '@svc/service-kit/service-error.ts';
import { challengeOf } from './oauth/check-token.ts';

/** Of OAuth (RFC 6749): what is wrong as a code, and as text. */
const oauthErrors: Partial<Record<ServiceError['code'], string>> = {
  bad_request: 'invalid_request',
  too_large: 'invalid_request',
  unsupported_media_type: 'invalid_request',
  unauthorized: 'invalid_token',
  forbidden: 'access_denied',
  busy: 'temporarily_unavailable',
  queue_full: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
};

/** Errors of this server in the form that OAuth clients read; a missing token is answered with where to get one. */
export function renderError(error: ServiceError, requestId: string, origin: string): Reply {
  const { code, status, message, details } = error;
  const retryAfter = details['retry_after_s'];
  return {
    status,
    headers: {
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': challengeOf(origin, error) }),
      ...(status === 405 && typeof details['allow'] === 'string' && { allow: details['allow'] }),
      ...(typeof retryAfter === 'number' && { 'retry-after': String(retryAfter) }),
    },
    body: JSON.stringify({ error: oauthErrors[code] ?? code, error_description: message, request_id: requestId }),
  };
}
