import type { IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import { fileTicketHeader, type ManifestEntry } from '@svc/contract/upload.ts';
import { ownsKey, type ConnectorPasses, type Peer } from '@svc/service-kit/connector-pass.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import { ServiceError, forbidden, notFound } from '@svc/service-kit/service-error.ts';
import { findUpload } from '@svc/service-kit/upload-file.ts';
import { createAtOnce } from '@svc/service-kit/at-once.ts';
import type { SentFile } from '../file/send-file.ts';
import type { Uploads } from './uploads.ts';

type Deps = {
  uploads: Pick<Uploads, 'manifest'>;
  paths: { uploads: string };
  connectorPasses: Pick<ConnectorPasses, 'check' | 'isTicket'>;
};

/** The limit of lines searched: a file that a connector asks for is recent. */
const maxLines = 20_000;
/** The limit of concurrent searches per instance. */
const maxSearches = 8;

/** Finds the files that connectors open. */
export type OutgoingFiles = (file: string, headers: IncomingHttpHeaders, key?: string) => Promise<SentFile>;

/**
 * A file that a connector may send: one of its own conversations, or one that the manager has sent through it, for which it has a ticket.
 * With a `key` it has to belong to that conversation. Nothing is revealed about other files, not even whether they exist.
 * @throws ServiceError `unauthorized`, `forbidden`, `not_found`, `queue_full`.
 */
export function createOutgoingFiles(deps: Deps): OutgoingFiles {
  const searches = createAtOnce(maxSearches, 'files of this instance');
  return async (file, headers, key) => {
    const peer = peerOf(deps, headers);
    return searches(peer.instanceId, () => outgoingFile(deps, peer, { file, key }, headers));
  };
}

function peerOf(deps: Deps, headers: IncomingHttpHeaders): Peer {
  const peer = deps.connectorPasses.check(bearerOf(headers.authorization) ?? '');
  if (peer === null) throw new ServiceError('unauthorized', 'A connector opens files with its pass (ctx.uploads.open).');
  return peer;
}

type Asked = { file: string; key: string | undefined };

async function outgoingFile(deps: Deps, peer: Peer, { file, key }: Asked, headers: IncomingHttpHeaders): Promise<SentFile> {
  const ticket = headers[fileTicketHeader];
  const isSent = key === undefined && typeof ticket === 'string' && deps.connectorPasses.isTicket(ticket, peer.instanceId, file);
  const upload = findUpload(deps.paths.uploads, file);
  if (typeof upload === 'string') throw isSent ? notFound('file', path.basename(file)) : notYours(peer);
  const entry = await entryOf(deps, upload.path);
  const owner = entry?.conversation_key ?? null;
  const isOwn = owner !== null && ownsKey(peer, owner) && (key === undefined || key === owner);
  if (!isSent && !isOwn) throw notYours(peer);
  const { id = 'sent', name = path.basename(file), mime = 'application/octet-stream' } = entry ?? {};
  return { id, name, mime, path: upload.path };
}

async function entryOf({ uploads }: Deps, file: string): Promise<ManifestEntry | null> {
  let lines = 0;
  for await (const entry of uploads.manifest.newest()) {
    if (entry.path === file) return entry;
    if (++lines === maxLines) return null;
  }
  return null;
}

const notYours = ({ type, instanceId }: Peer) =>
  forbidden(`No reply of the ${type} instance ${instanceId}, and nothing that was sent through it, names this file.`);
