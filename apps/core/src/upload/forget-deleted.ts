import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { syncFolder } from '@svc/service-kit/files.ts';
import { textLines } from '@svc/service-kit/text-lines.ts';

/** How much is written at a time. */
const pieceChars = 256 * 1024;

/**
 * Rewrites the list of uploads without the names, paths and conversations of deleted files: their ids and deletion times stay in place. A
 * concurrent reader reads the old list to its end; there must be no concurrent writer.
 */
export async function forgetDeleted(file: string, deleted: ReadonlyMap<string, number>): Promise<void> {
  const draft = path.join(path.dirname(file), '.manifest.part'); // in no backup, and not an upload
  await rm(draft, { force: true });
  const [from, to] = [await open(file, constants.O_RDONLY | constants.O_NOFOLLOW), await open(draft, 'wx', 0o600)];
  try {
    await copy(from, to, slimming(deleted));
    await to.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await to.close();
    await from.close();
  }
  await rename(draft, file);
  await syncFolder(path.dirname(file));
}

async function copy(from: FileHandle, to: FileHandle, keep: (line: string) => string | null): Promise<void> {
  let piece = '';
  for await (const line of textLines(from.createReadStream({ autoClose: false }))) {
    const kept = keep(line);
    if (kept !== null) piece += `${kept}\n`;
    if (piece.length < pieceChars) continue;
    await to.writeFile(piece);
    piece = '';
  }
  await to.writeFile(piece);
}

/** What happens to each line: a deleted file's first line is reduced, its other lines are dropped, and so is an incomplete line. */
function slimming(deleted: ReadonlyMap<string, number>): (line: string) => string | null {
  const done = new Set<string>();
  return (line) => {
    const entry = parseJsonOrNull(line);
    if (!isRecord(entry) || typeof entry['id'] !== 'string') return null;
    const { id } = entry;
    const deleted_at = deleted.get(id);
    if (deleted_at === undefined) return line;
    if (done.has(id)) return null;
    done.add(id);
    return JSON.stringify({ id, path: '', deleted_at });
  };
}
