import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { localActor } from '@svc/contract/trust.ts';
import { Secret } from '../secret.ts';

/** Where `svc up` leaves the secret of this start, for the processes of ours that believe a name. Never a setting. */
export const userProofVariable = 'GATEWAY_USER_PROOF';
const proofHeader = 'x-svc-proof';
const nameForm = /^[\x21-\x7e][\x20-\x7e]{0,127}$/;
const minSecretLength = 32;

/**
 * Who a person is that comes through the dashboard's proxy, which names them in `Remote-User`. Any program of this machine can send that
 * header, so it counts only with a seal over the name, made with a secret that only our processes of this start have.
 */
export type RemoteUsers = {
  /** The headers of a request on behalf of a person who has signed in. */
  headersFor(user: string): { 'remote-user': string; 'x-svc-proof': string };
  /** The name when it is proven, `local` otherwise; both headers are removed, so that nothing else can go by them. */
  take(headers: IncomingHttpHeaders): string;
  /** What the seals are made with, for those who mask it. */
  readonly secrets: readonly string[];
};

/** Without a secret nobody is believed. @throws Error for one that can be guessed. */
export function createRemoteUsers(secret: string | undefined): RemoteUsers {
  if (secret !== undefined && secret.length < minSecretLength)
    throw new Error(`${userProofVariable} is too short: ./svc up makes one by itself.`);
  const sealOf = (user: string): Secret | null =>
    secret === undefined ? null : new Secret(createHmac('sha256', secret).update(`remote-user\n${user}`).digest('base64url'));

  return {
    secrets: secret === undefined ? [] : [secret],
    headersFor(user) {
      const seal = nameForm.test(user) ? sealOf(user) : null;
      if (seal === null) throw new Error('This person cannot be named to another process.');
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

/** Those who believe nobody. */
export const noRemoteUsers: RemoteUsers = createRemoteUsers(undefined);
