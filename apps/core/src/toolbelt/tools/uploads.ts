import type { ManifestEntry } from '@svc/contract/upload.ts';
import { conversationOf, rightsOf, type ToolCaller } from '../tool-caller.ts';
import { isoTime, type Tool } from './tool.ts';

/** How many lines are read for a caller who may see few of them. */
const maxLines = 20_000;

/** The newest files of the upload area. Callers without full reach see those of this conversation. */
export const listUploads: Tool<'svc_uploads'> = async ({ paths, uploads }, caller, { limit = 20 }) => {
  const files: object[] = [];
  let lines = 0;
  for await (const entry of uploads.manifest.newest()) {
    if (isSeen(caller, entry)) files.push(shown(entry));
    if (files.length === limit || ++lines === maxLines) break;
  }
  return { folder: paths.uploads, files };
};

const isSeen = (caller: ToolCaller, { conversation_key }: ManifestEntry): boolean =>
  rightsOf(caller).reach === 'all' || (conversation_key !== null && conversation_key === conversationOf(caller));

const shown = ({ path: file, name, mime, kind, bytes, conversation_key, created_at }: ManifestEntry) => ({
  path: file,
  name,
  mime,
  kind,
  bytes,
  conversation_key,
  created_at: isoTime(created_at),
});
