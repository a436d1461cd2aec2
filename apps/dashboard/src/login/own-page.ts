import type { FastifyRequest } from 'fastify';
import { ServiceError } from '@svc/service-kit/service-error.ts';

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What a form of any other page can send without asking first. */
const formTypes = /^(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)/i;

/**
 * Changes come from our own page alone: with its `Origin`, which the guard has held against `Host`, and with a body that no form can send.
 * @throws ServiceError `bad_origin`, `unsupported_media_type`
 */
export async function requireOwnPage({ method, headers }: FastifyRequest): Promise<void> {
  if (reading.has(method)) return;
  const { origin, 'sec-fetch-site': site = 'same-origin', 'content-type': type } = headers;
  if (typeof origin !== 'string' || site !== 'same-origin')
    throw new ServiceError('bad_origin', 'Only the page of this service may do this: send its Origin.');
  if (type !== undefined && formTypes.test(type))
    throw new ServiceError('unsupported_media_type', 'Send JSON, or the bytes of a file with their type.');
}
