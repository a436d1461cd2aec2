import type { Database, Value } from '@svc/store/database.ts';
import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import { keepTerminalSession } from '../session/session-store.ts';
import type { TranscriptRow } from './transcript-row.ts';

const columns = [
  'file',
  'engine',
  'engine_session_id',
  'conversation_key',
  'is_core',
  'cwd',
  'model',
  'title',
  'is_title_given',
  'started_at',
  'last_at',
  'file_id',
  'size',
  'changed_at',
  'mark',
  'read_to',
  'is_skipping',
  'is_whole',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'last_usage',
  'is_busy',
  'is_part',
  'is_interactive',
] as const satisfies readonly (keyof TranscriptRow)[];

const upsert = `INSERT INTO transcript (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
ON CONFLICT (file) DO UPDATE SET ${columns
  .slice(1)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')}`;

type Db = Pick<Database, 'all' | 'get' | 'run'>;

/** The rows of transcripts, by file. */
export type TranscriptStore = {
  read(file: string): Promise<TranscriptRow | undefined>;
  count(): Promise<number>;
  save(row: TranscriptRow): Promise<number>;
  /** Adds it to the sessions. */
  saveSession(row: TranscriptRow, identity: string): Promise<number>;
  /** The transcripts of these sessions, the newest of each last. */
  ofSessions(keys: readonly string[]): Promise<TranscriptRow[]>;
  /** Those that were written to since a time (epoch ms), newest first. */
  since(at: number, limit: number): Promise<TranscriptRow[]>;
  /** The session of the core to which an engine's session belongs, if a transcript is marked so; else null. */
  keyOf(engineSessionId: string): Promise<string | null>;
};

export function createTranscriptStore(db: Db): TranscriptStore {
  return {
    read: (file) => db.get<TranscriptRow>('SELECT * FROM transcript WHERE file = ?', file),
    count: async () => (await db.get<{ n: number }>('SELECT count(*) AS n FROM transcript'))?.n ?? 0,
    save: (row) => db.run(upsert, ...columns.map((name): Value => row[name])),
    saveSession: ({ conversation_key, started_at, last_at }, identity) =>
      keepTerminalSession(db, { key: conversation_key, identity, startedAt: started_at, lastAt: last_at }),
    ofSessions: (keys) => db.all<TranscriptRow>(selectOfSessions, JSON.stringify(keys)),
    since: (at, limit) => db.all<TranscriptRow>(selectSince, at, limit),
    keyOf: async (engineSessionId) =>
      (await db.get<{ conversation_key: string }>(selectKey, engineSessionId))?.conversation_key ?? null,
  };
}

/** Removes the titles that transcripts gave a session, which are its first words. Part of the caller's batch. */
export function createTranscriptTitleRemover(db: BatchDatabase): (key: string) => void {
  const update = db.statement('UPDATE transcript SET title = NULL WHERE conversation_key = ? AND is_core = 1');
  return (key) => void update.run(key);
}

const selectOfSessions = `SELECT * FROM transcript WHERE conversation_key IN (SELECT value FROM json_each(?))
ORDER BY conversation_key, last_at LIMIT 5000`;
const selectSince = 'SELECT * FROM transcript WHERE conversation_key IS NOT NULL AND last_at >= ? ORDER BY last_at DESC LIMIT ?';
const selectKey = 'SELECT conversation_key FROM transcript WHERE engine_session_id = ? AND is_core = 1 LIMIT 1';
