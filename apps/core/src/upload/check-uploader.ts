import { ownsKey, type ConnectorPasses, type Peer } from '@svc/service-kit/connector-pass.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import { forbidden, notFound } from '@svc/service-kit/service-error.ts';
import type { Uploads } from './uploads.ts';

type Passes = { connectorPasses: Pick<ConnectorPasses, 'check'> };
type Headers = { authorization?: string };

/**
 * A connector, identified by its pass, may assign a file only to one of its own conversations.
 * @throws ServiceError `forbidden`.
 */
export function checkUploader(passes: Passes, headers: Headers, key: string | undefined): void {
  const peer = key === undefined ? null : peerOf(passes, headers);
  if (peer === null || key === undefined || ownsKey(peer, key)) return;
  throw forbidden(
    `This file would go to the conversation "${key}", which is not one of the ${peer.type} instance ${peer.instanceId}.`,
  );
}

/**
 * A connector may only continue a chunked upload of its own conversations and, where a key is named, of that conversation.
 * @throws ServiceError `not_found`, as for an upload that does not exist.
 */
export async function checkUploadOwner(
  { uploads, ...passes }: Passes & { uploads: Pick<Uploads, 'keyOf'> },
  headers: Headers,
  { id, key }: { id: string; key: string | undefined },
): Promise<void> {
  const peer = peerOf(passes, headers);
  if (peer === null && key === undefined) return;
  const owner = await uploads.keyOf(id);
  const isOwn = peer === null || (owner !== null && ownsKey(peer, owner));
  if (!isOwn || (key !== undefined && key !== owner)) throw notFound('upload', id);
}

function peerOf({ connectorPasses }: Passes, { authorization }: Headers): Peer | null {
  const bearer = bearerOf(authorization);
  return bearer === null ? null : connectorPasses.check(bearer);
}
