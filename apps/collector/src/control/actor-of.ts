import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

/**
 * Who acts. The proxy of the dashboard names the person in `Remote-User`; it is believed only with the control token, which
 * nobody else has, so without one set it says nothing.
 */
export function actorOf({ headers }: Pick<IncomingMessage, 'headers'>, controlToken: Secret | null): string {
  const user = headers['remote-user'];
  const presented = bearerOf(headers.authorization);
  if (user === undefined || controlToken === null || presented === null || !controlToken.equals(presented)) return 'local';
  if (typeof user !== 'string' || !/^[\x21-\x7e][\x20-\x7e]{0,127}$/.test(user)) {
    throw badRequest('The header Remote-User takes one name of at most 128 printable characters.');
  }
  return user;
}
