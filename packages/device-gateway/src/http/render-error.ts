import type { Reply } from '@svc/connector-kit';
import type { ServiceError } from '@svc/service-kit/service-error.ts';

/** Renders errors in the service's usual form. */
export function renderError({ code, status, message, details }: ServiceError, { requestId }: { requestId: string }): Reply {
  const retryAfter = details['retry_after_s'];
  return {
    status,
    headers: {
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(status === 405 && typeof details['allow'] === 'string' && { allow: details['allow'] }),
      ...(typeof retryAfter === 'number' && { 'retry-after': String(Math.ceil(retryAfter)) }),
    },
    body: JSON.stringify({ ...details, ok: false, error: code, message, request_id: requestId }),
  };
}

export const errorSchema = {
  type: 'object',
  required: ['ok', 'error', 'message', 'request_id'],
  properties: {
    ok: { const: false },
    error: { type: 'string' },
    message: { type: 'string' },
    request_id: { type: 'string' },
  },
} as const;
