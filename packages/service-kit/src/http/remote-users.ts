import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { localActor } from '@svc/contract/trust.ts';
import { Secret } from '../secret.ts';

/** The variable in which `svc up` passes the secret of this start to our processes that accept names. Never a setting. */
export const userProofVariable = 'GATEWAY_USER_PROOF';
const proofHeader = 'x-svc-proof';
const nameForm = /^[\x21-\x7e][\x20-\x7e]{0,127}$/;
const minSecretLength = 32;

/**
 * The person behind a request of the dashboard's proxy, which names them in `Remote-User`. Any program of this machine can send that
 * header, so it counts only with a signature of the name, made with a secret that only our processes of this start have.
 */
export type RemoteUsers = {
  /** The headers of a request on behalf of a person who has signed in. */
  headersFor(user: string): { 'remote-user': string; 'x-svc-proof': string };
  /** The name if it is proven, else `local`. Both headers are removed, so that no other code can use them. */
  take(headers: IncomingHttpHeaders): string;
  /** The secrets of the signatures, for masking. */
  readonly secrets: readonly string[];
};

/** Without a secret no name is accepted. @throws Error for a secret that is too short. */
export function createRemoteUsers(secret: string | undefined): RemoteUsers {
  if (secret !== undefined && secret.length < minSecretLength)
    throw new Error(`${userProofVariable} is too short. Do not set it: ./svc up generates one.`);
  const sealOf = (user: string): Secret | null =>
    secret === undefined ? null : new Secret(createHmac('sha256', secret).update(`remote-user\n${user}`).digest('base64url'));

  return {
    secrets: secret === undefined ? [] : [secret],
    headersFor(user) {
      const seal = nameForm.test(user) ? sealOf(user) : null;
      if (seal === null)
        throw new Error('This name cannot be sent to another process: it is invalid, or there is no secret to prove it.');
      return { 'remote-user': user, [proofHeader]: seal.reveal() };
    },
    take(headers) {
      const { 'remote-user': user, [proofHeader]: proof } = headers;
      if (user === undefined && proof === undefined) return localActor;
      delete headers['remote-user'];
      delete headers[proofHeader];
      if (typeof user !== 'string' || typeof proof !== 'string' || !nameForm.test(user)) return localActor;
      return sealOf(user)?.equals(proof) === true ? user : localActor;
    },
  };
}

/** Accepts no names. */
export const noRemoteUsers: RemoteUsers = createRemoteUsers(undefined);
