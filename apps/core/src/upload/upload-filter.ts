import { fileKinds, type ManifestEntry } from '@svc/contract/upload.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

/** What is looked for in a list of files. */
export type UploadQuery = { text?: string; kind?: string };

/**
 * Whether a file is looked for: by a part of its name or of its conversation's key, whatever the case, and by its kind.
 * @throws ServiceError `bad_request` for a kind that there is not.
 */
export function uploadFilter({ text = '', kind }: UploadQuery): (entry: ManifestEntry) => boolean {
  if (kind !== undefined && !(fileKinds as readonly string[]).includes(kind))
    throw badRequest(`"${kind.slice(0, 64)}" is no kind of file. There are: ${fileKinds.join(', ')}.`);
  const part = text.trim().toLowerCase();
  const has = (value: string | null) => value?.toLowerCase().includes(part) === true;
  return (entry) => (kind === undefined || entry.kind === kind) && (has(entry.name) || has(entry.conversation_key));
}
