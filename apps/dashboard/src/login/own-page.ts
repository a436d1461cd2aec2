import type { FastifyRequest } from 'fastify';
import { ServiceError } from '@svc/service-kit/service-error.ts';

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What a form on another site can send without a CORS preflight. */
const formTypes = /^(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)/i;

/**
 * Allows changes only from our own pages: with their `Origin`, which the guard has compared with `Host`, and with a body that no form can send.
 * @throws ServiceError `bad_origin`, `unsupported_media_type`
 */
export async function requireOwnPage({ method, headers }: FastifyRequest): Promise<void> {
  if (reading.has(method)) return;
  const { origin, 'sec-fetch-site': site = 'same-origin', 'content-type': type } = headers;
  if (typeof origin !== 'string' || site !== 'same-origin')
    throw new ServiceError(
      'bad_origin',
      'Only pages of this service may send this request. Its Origin header is missing or names another site.',
    );
  if (type !== undefined && formTypes.test(type))
    throw new ServiceError(
      'unsupported_media_type',
      'This content type is not accepted. Send JSON, or the bytes of a file with their own type.',
    );
}
