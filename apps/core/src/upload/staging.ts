import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, readdir, rm, truncate, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { makePrivateDir, writeFileAtomic, ifThere } from '@svc/service-kit/files.ts';
import { movable, placed } from './manifest.ts';
import { writeAll } from '../file/store-stream.ts';

/** What a chunked upload said of itself at its beginning. */
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
 * Files on their way, one folder each: `data` (as long as the file will be, and sparse), `plan.json`, `map` (one byte for
 * each chunk, 1 when it has landed), `again-N` while chunk N comes once more and, once the content is proven, `entry.json`, which says where it goes. A file that is
 * being deleted has `tombstone.json` there.
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

  /** A folder for a file whose size is not known yet. Gives its open `data`. */
  async begin(id: string): Promise<FileHandle> {
    await mkdir(this.dirOf(id), { recursive: true, mode: 0o700 });
    return open(this.dataOf(id), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  }

  /** A folder for a file that comes in chunks. The plan is written last: without it there is no upload. */
  async plan(id: string, plan: UploadPlan): Promise<void> {
    const handle = await this.begin(id);
    await handle.close();
    await truncate(this.dataOf(id), plan.size);
    writeFileAtomic(path.join(this.dirOf(id), 'map'), '\0'.repeat(plan.chunks));
    writeFileAtomic(path.join(this.dirOf(id), 'plan.json'), JSON.stringify(plan));
  }

  /** The plan of an upload and which of its chunks have landed; null when there is none with this id. */
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

  /** Whether a chunk has landed. */
  async mark(id: string, index: number, hasLanded: boolean): Promise<void> {
    const handle = await open(path.join(this.dirOf(id), 'map'), constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      await handle.write(Buffer.of(hasLanded ? 1 : 0), 0, 1, index);
    } finally {
      await handle.close();
    }
  }

  /** Which chunks have landed, all at once. */
  async keepMap(id: string, map: Uint8Array): Promise<void> {
    const handle = await open(path.join(this.dirOf(id), 'map'), constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      await writeAll(handle, [Buffer.from(map)], 0);
    } finally {
      await handle.close();
    }
  }

  /** From here on the upload is made whole, whatever happens: a later process finds it here. */
  decide(id: string, entry: ManifestEntry): void {
    writeFileAtomic(path.join(this.dirOf(id), 'entry.json'), JSON.stringify(movable(entry, this.#area)));
  }
  async decision(id: string): Promise<ManifestEntry | null> {
    const entry = idPattern.test(id) ? await this.#readJson<ManifestEntry>(id, 'entry.json') : null;
    return entry === null ? null : placed(entry, this.#area);
  }

  /** From here on the file is deleted, whatever happens: a later process finds it here. */
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

  /** When something last came for an upload, epoch ms; null when it is gone. */
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
