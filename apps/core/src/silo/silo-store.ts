import type { Silo, SiloFile } from '@svc/contract/silo.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';

const selectSilo = `SELECT id, name, min_trust, wrapped_key, created_at,
  (SELECT count(*) FROM silo_file WHERE silo_id = silo.id) AS files,
  (SELECT coalesce(sum(bytes), 0) FROM silo_file WHERE silo_id = silo.id) AS bytes FROM silo`;
const insertSilo = 'INSERT INTO silo (id, name, min_trust, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING';
const setKey = 'UPDATE silo SET wrapped_key = ? WHERE id = ? AND wrapped_key IS NULL';
const fileColumns = 'path, blob, bytes, sha256, mime, encrypted, created_at, updated_at';
const selectFile = `SELECT ${fileColumns} FROM silo_file WHERE silo_id = ? AND path = ?`;
const selectFiles = `SELECT ${fileColumns} FROM silo_file WHERE silo_id = ? AND path > ? ORDER BY path LIMIT ?`;
const upsertFile = `INSERT INTO silo_file (silo_id, ${fileColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (silo_id, path) DO UPDATE SET blob = excluded.blob, bytes = excluded.bytes, sha256 = excluded.sha256,
  mime = excluded.mime, encrypted = excluded.encrypted, updated_at = excluded.updated_at`;
const countFiles = 'SELECT count(*) AS files FROM silo_file WHERE silo_id = ?';
const deleteFile = 'DELETE FROM silo_file WHERE silo_id = ? AND path = ?';

export type SiloRow = Omit<Silo, 'encrypted'> & { wrapped_key: string | null };
export type SiloFileRow = SiloFile & { blob: string };
type StoredFile = Omit<SiloFileRow, 'encrypted'> & { encrypted: number };

/** The database rows of silos and of their files. */
export type SiloStore = {
  /** False when the name is taken. */
  create(id: string, name: string, minTrust: Tier, at: number): Promise<boolean>;
  read(id: string): Promise<SiloRow | undefined>;
  list(): Promise<SiloRow[]>;
  /** Stores the wrapped key of a silo, unless it has one already. */
  keepKey(id: string, wrapped: string): Promise<number>;
  file(siloId: string, path: string): Promise<SiloFileRow | null>;
  files(siloId: string, after: string, limit: number): Promise<SiloFileRow[]>;
  blobs(siloId: string): Promise<string[]>;
  /** Returns the row that it replaces. @throws ServiceError `not_found` for a silo that was removed. */
  put(siloId: string, file: SiloFileRow): Promise<SiloFileRow | null>;
  /** Returns the removed row; null when there was none. */
  remove(siloId: string, path: string): Promise<SiloFileRow | null>;
  /** Removes a silo with at most `mostFiles` files. Returns its number of files: with more, nothing is removed. */
  drop(siloId: string, mostFiles: number): Promise<number>;
};

export function createSiloStore(db: Database): SiloStore {
  return {
    create: async (id: string, name: string, minTrust: Tier, at: number) =>
      (await db.run(insertSilo, id, name, minTrust, at)) === 1,
    read: (id: string) => db.get<SiloRow>(`${selectSilo} WHERE id = ?`, id),
    list: () => db.all<SiloRow>(`${selectSilo} ORDER BY name`),
    keepKey: (id: string, wrapped: string) => db.run(setKey, wrapped, id),

    file: async (siloId: string, path: string) => toFile(await db.get<StoredFile>(selectFile, siloId, path)),
    files: async (siloId: string, after: string, limit: number) =>
      (await db.all<StoredFile>(selectFiles, siloId, after, limit)).flatMap((row) => toFile(row) ?? []),
    blobs: async (siloId: string) =>
      (await db.all<{ blob: string }>('SELECT blob FROM silo_file WHERE silo_id = ?', siloId)).map(({ blob }) => blob),

    put: (siloId: string, file: SiloFileRow) =>
      db.transaction(async (tx) => {
        if ((await tx.get('SELECT 1 FROM silo WHERE id = ?', siloId)) === undefined) throw notFound('silo', siloId);
        const before = toFile(await tx.get<StoredFile>(selectFile, siloId, file.path));
        const { path, blob, bytes, sha256, mime, encrypted, created_at, updated_at } = file;
        await tx.run(upsertFile, siloId, path, blob, bytes, sha256, mime, encrypted ? 1 : 0, created_at, updated_at);
        return before;
      }),
    remove: (siloId: string, path: string) =>
      db.transaction(async (tx) => {
        const before = toFile(await tx.get<StoredFile>(selectFile, siloId, path));
        await tx.run(deleteFile, siloId, path);
        return before;
      }),
    drop: (siloId: string, mostFiles: number) =>
      db.transaction(async (tx) => {
        const { files } = (await tx.get<{ files: number }>(countFiles, siloId)) ?? { files: 0 };
        if (files > mostFiles) return files;
        await tx.run('DELETE FROM silo_file WHERE silo_id = ?', siloId);
        await tx.run('DELETE FROM silo WHERE id = ?', siloId);
        return files;
      }),
  };
}

const toFile = (row: StoredFile | undefined): SiloFileRow | null =>
  row === undefined ? null : { ...row, encrypted: row.encrypted === 1 };
