import { fileKinds, type ManifestEntry } from '@svc/contract/upload.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

/** The filters of a list of files. */
export type UploadQuery = { text?: string; kind?: string };

/**
 * Matches files by a part of their name or of their conversation's key, ignoring case, and by their kind.
 * @throws ServiceError `bad_request` for an unknown kind.
 */
export function uploadFilter({ text = '', kind }: UploadQuery): (entry: ManifestEntry) => boolean {
  if (kind !== undefined && !(fileKinds as readonly string[]).includes(kind))
    throw badRequest(`"${kind.slice(0, 64)}" is no kind of file. There are: ${fileKinds.join(', ')}.`);
  const part = text.trim().toLowerCase();
  const has = (value: string | null) => value?.toLowerCase().includes(part) === true;
  return (entry) => (kind === undefined || entry.kind === kind) && (has(entry.name) || has(entry.conversation_key));
}
