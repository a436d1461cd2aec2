import type { Exchange } from '@svc/connector-kit';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** The fields of a form, of a route that streams its body within a limit. */
export async function readForm({ req, body }: Exchange): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? '')) {
    throw new ServiceError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
  }
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return new URLSearchParams(Buffer.concat(parts).toString());
}
