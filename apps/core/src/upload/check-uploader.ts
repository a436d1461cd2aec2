import { ownsKey, type ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import { forbidden } from '@svc/service-kit/service-error.ts';

/**
 * A connector, which shows its pass, may say of a file that it belongs to one of its own conversations, and to no other.
 * @throws ServiceError `forbidden`.
 */
export function checkUploader(
  { connectorPasses }: { connectorPasses: Pick<ConnectorPasses, 'check'> },
  { authorization }: { authorization?: string },
  key: string | undefined,
): void {
  const bearer = key === undefined ? null : bearerOf(authorization);
  const peer = bearer === null ? null : connectorPasses.check(bearer);
  if (peer === null || key === undefined || ownsKey(peer, key)) return;
  throw forbidden(
    `This file would go to the conversation "${key}", which is not one of the ${peer.type} instance ${peer.instanceId}.`,
  );
}
