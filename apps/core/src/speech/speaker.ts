import type { FastifyRequest } from 'fastify';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import { resolveSpeaker } from '@svc/service-kit/resolve-speaker.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import type { TrustService } from '../trust/trust-service.ts';

/** The sender for whom a connector makes the request, and that sender's identity: speech is counted as theirs. */
export type Speaker = { identity: Identity; from: Pick<Envelope, 'channel' | 'sender'> };

type Deps = { trust: Pick<TrustService, 'resolve'>; connectorPasses: Pick<ConnectorPasses, 'check'> };

/**
 * The person for whom speech is requested. A connector's pass identifies its channel, and it names the sender. Null for the operator's
 * programs, which act for themselves.
 * @throws ServiceError `no_access` for a sender who is denied, for a connector that names none, or for a program that names one.
 */
export async function speakerOf(
  { trust, connectorPasses }: Deps,
  { headers }: Pick<FastifyRequest, 'headers'>,
  rawId: string | undefined,
): Promise<Speaker | null> {
  const bearer = bearerOf(headers.authorization);
  const peer = bearer === null ? null : connectorPasses.check(bearer);
  if (peer === null && rawId === undefined) return null;
  if (peer === null) throw badRequest('Only a connector may set "sender", and it must send its pass.');
  if (rawId === undefined) throw badRequest('Name the "sender" that this is for.');
  const from = { channel: peer.type, sender: { raw_id: rawId } };
  const identity = await resolveSpeaker(trust, from, { conversation_key: '', public: false, instance_id: peer.instanceId });
  if (identity.denied) throw new ServiceError('no_access', 'no access');
  return { identity, from };
}
