import { lstat } from 'node:fs/promises';
import type { Database } from '@svc/store/database.ts';

/** Where to continue: transcripts up to here have been checked. */
export type TranscriptCursor = { last_at: number; file: string };

const selectTranscripts = `SELECT last_at, file FROM transcript WHERE (last_at, file) > (?, ?) AND last_at < ?
ORDER BY last_at, file LIMIT ?`;
const removeTranscripts = 'DELETE FROM transcript WHERE last_at < ? AND file IN (SELECT value FROM json_each(?))';

/**
 * Checks some transcripts without activity since a time (epoch ms), oldest first, and removes the rows of those whose file
 * no longer exists. The reading position of an existing file is kept. Null when no more are old enough.
 */
export async function forgetTranscripts(
  db: Pick<Database, 'all' | 'run'>,
  cursor: TranscriptCursor,
  before: number,
  limit: number,
): Promise<{ cursor: TranscriptCursor; removed: number } | null> {
  const rows = await db.all<TranscriptCursor>(selectTranscripts, cursor.last_at, cursor.file, before, limit);
  const last = rows.at(-1);
  if (last === undefined) return null;
  const files = await Promise.all(rows.map(async ({ file }) => ((await isGone(file)) ? [file] : [])));
  const gone = files.flat();
  const removed = gone.length === 0 ? 0 : await db.run(removeTranscripts, before, JSON.stringify(gone));
  return { cursor: { last_at: last.last_at, file: last.file }, removed };
}

/** A file that cannot be accessed may still exist. */
const isGone = async (file: string): Promise<boolean> =>
  lstat(file).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  );
