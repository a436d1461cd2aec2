import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, readdir, rm, truncate, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { makePrivateDir, writeFileAtomic, ifThere } from '@svc/service-kit/files.ts';
import { movable, placed } from './manifest.ts';
import { writeAll } from '../file/store-stream.ts';

/** What a chunked upload stated at its beginning. */
export type UploadPlan = {
  name: string;
  mime: string;
  size: number;
  sha256: string | null;
  conversation_key: string | null;
  chunk_size: number;
  chunks: number;
  created_at: number;
};

const idPattern = /^upl_[0-9a-z]{19}$/;

/**
 * Files in progress, one folder each: `data` (as long as the file will be, and sparse), `plan.json`, `map` (one byte for each chunk, 1 when
 * it is stored), `again-N` while chunk N is received again and, once the content is verified, `entry.json`, which says where it goes. A
 * file being deleted has `tombstone.json` there.
 */
export class Staging {
  readonly folder: string;
  readonly #area: string;

  constructor(area: string) {
    this.#area = area;
    this.folder = path.join(area, '.staging');
  }

  dirOf(id: string): string {
    return path.join(this.folder, id);
  }
  dataOf = (id: string): string => path.join(this.dirOf(id), 'data');
  asideOf = (id: string, index: number): string => path.join(this.dirOf(id), `again-${index}`);

  /** Creates a folder for a file of unknown size. Returns its open `data`. */
  async begin(id: string): Promise<FileHandle> {
    await mkdir(this.dirOf(id), { recursive: true, mode: 0o700 });
    return open(this.dataOf(id), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  }

  /** Creates a folder for a file that arrives in chunks. The plan is written last: without it there is no upload. */
  async plan(id: string, plan: UploadPlan): Promise<void> {
    const handle = await this.begin(id);
    await handle.close();
    await truncate(this.dataOf(id), plan.size);
    writeFileAtomic(path.join(this.dirOf(id), 'map'), '\0'.repeat(plan.chunks));
    writeFileAtomic(path.join(this.dirOf(id), 'plan.json'), JSON.stringify(plan));
  }

  /** The plan of an upload and which of its chunks are stored; null when the id is unknown. */
  async read(id: string): Promise<{ plan: UploadPlan; map: Uint8Array } | null> {
    if (!idPattern.test(id) || !(await this.#isFolder(id))) return null;
    const plan = await this.#readJson<UploadPlan>(id, 'plan.json');
    if (plan === null) return null;
    const map = await readFile(path.join(this.dirOf(id), 'map'));
    return map.length === plan.chunks ? { plan, map } : null;
  }

  /** Opens `data` to write into it, never through a link. */
  open(id: string): Promise<FileHandle> {
    return open(this.dataOf(id), constants.O_RDWR | constants.O_NOFOLLOW);
  }

  async size(id: string): Promise<number> {
    return (await lstat(this.dataOf(id))).size;
  }

  /** Records whether a chunk is stored. */
  async mark(id: string, index: number, hasLanded: boolean): Promise<void> {
    const handle = await open(path.join(this.dirOf(id), 'map'), constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      await handle.write(Buffer.of(hasLanded ? 1 : 0), 0, 1, index);
    } finally {
      await handle.close();
    }
  }

  /** Records for all chunks at once which are stored. */
  async keepMap(id: string, map: Uint8Array): Promise<void> {
    const handle = await open(path.join(this.dirOf(id), 'map'), constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      await writeAll(handle, [Buffer.from(map)], 0);
    } finally {
      await handle.close();
    }
  }

  /** Records that the upload will be completed: a later process continues from here. */
  decide(id: string, entry: ManifestEntry): void {
    writeFileAtomic(path.join(this.dirOf(id), 'entry.json'), JSON.stringify(movable(entry, this.#area)));
  }
  async decision(id: string): Promise<ManifestEntry | null> {
    const entry = idPattern.test(id) ? await this.#readJson<ManifestEntry>(id, 'entry.json') : null;
    return entry === null ? null : placed(entry, this.#area);
  }

  /** Records that the file will be deleted: a later process continues from here. */
  bury(tombstone: ManifestEntry): void {
    makePrivateDir(this.folder);
    makePrivateDir(this.dirOf(tombstone.id));
    writeFileAtomic(path.join(this.dirOf(tombstone.id), 'tombstone.json'), JSON.stringify(movable(tombstone, this.#area)));
  }
  async tombstone(id: string): Promise<ManifestEntry | null> {
    const entry = idPattern.test(id) ? await this.#readJson<ManifestEntry>(id, 'tombstone.json') : null;
    return entry === null ? null : placed(entry, this.#area);
  }

  async remove(id: string): Promise<void> {
    await rm(this.dirOf(id), { recursive: true, force: true });
  }

  /** The ids of all staged uploads. */
  async list(): Promise<string[]> {
    return (await ifThere(readdir(this.folder), [])).filter((name) => idPattern.test(name));
  }

  /** When an upload last received something, epoch ms; null when it is gone. */
  async touchedAt(id: string): Promise<number | null> {
    const times = await Promise.all(['', 'data', 'map'].map((name) => modifiedAt(path.join(this.dirOf(id), name))));
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : Math.max(...known);
  }

  async #isFolder(id: string): Promise<boolean> {
    return (await lstatOrNull(this.dirOf(id)))?.isDirectory() === true;
  }

  async #readJson<T>(id: string, name: string): Promise<T | null> {
    const text = await ifThere(readFile(path.join(this.dirOf(id), name), 'utf8'), null);
    return text === null ? null : (JSON.parse(text) as T);
  }
}

export const isUploadId = (id: string): boolean => idPattern.test(id);

const modifiedAt = async (file: string): Promise<number | null> => (await lstatOrNull(file))?.mtimeMs ?? null;

const lstatOrNull = (file: string) => ifThere(lstat(file), null);
