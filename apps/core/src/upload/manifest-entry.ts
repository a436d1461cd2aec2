import path from 'node:path';
import type { ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { kindOfMime, mimeOfName, plainMime, safeFileName } from '../file/file-name.ts';

/** What a sender says of a file. */
export type FileFacts = { filename: string; mime?: string; conversation_key?: string | null };

/** The same as it is kept: with a safe name, and with a type. */
type Named = { name: string; mime: string; conversation_key: string | null };

/** `mask` takes known secrets out: a name is seen in paths, lists and headers. */
export async function namesOf(
  { filename, mime, conversation_key = null }: FileFacts,
  mask: (text: string) => string,
): Promise<Named> {
  // Once more what the first look has made: a sign that was left out may have hidden one.
  const name = safeFileName(mask(safeFileName(mask(filename))));
  return { name, mime: plainMime(mime) ?? (await mimeOfName(name)), conversation_key };
}

/** The entry of a file that is whole, with the place it belongs to in the upload area. */
export function entryOf(
  area: string,
  id: string,
  plan: Named & { size: number; created_at: number },
  sha256: string,
): ManifestEntry {
  const { name, mime, conversation_key, size, created_at } = plan;
  const day = new Date(created_at).toISOString().slice(0, 10);
  const file = path.join(area, day, `${id.slice('upl_'.length)}-${name}`);
  return { id, path: file, name, mime, kind: kindOfMime(mime), bytes: size, sha256, conversation_key, created_at };
}

/** What senders hear of it. */
export const toFile = ({ path: file, name, mime, kind, bytes, sha256 }: ManifestEntry): UploadedFile => ({
  path: file,
  name,
  mime,
  kind,
  bytes,
  sha256,
});
