import type { FastifyRequest } from 'fastify';
import type { Secret } from '../secret.ts';
import { ServiceError } from '../service-error.ts';

/** A request hook that requires `Authorization: Bearer <token>`. */
export type BearerAuth = (request: FastifyRequest) => Promise<void>;

/** Without a token the route is open, of which the start warns. */
export function createBearerAuth(token: Secret | null, variable: string): BearerAuth {
  return async function bearerAuth(request) {
    if (token === null) return;
    const presented = bearerOf(request.headers.authorization);
    if (presented === null || !token.equals(presented)) {
      throw new ServiceError('unauthorized', `This route needs "Authorization: Bearer <token>" with the value of ${variable}.`);
    }
  };
}

/** The token of an Authorization header, or null when it is missing or of another scheme. */
export const bearerOf = (header: string | undefined): string | null => /^Bearer ([^\s]+)$/i.exec(header ?? '')?.[1] ?? null;
