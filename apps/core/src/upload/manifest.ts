import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { kindOfMime, mimeOfName, plainMime, safeFileName } from '../file/file-name.ts';
import { openToRead } from '../file/open-to-read.ts';
import { forgetDeleted } from './forget-deleted.ts';

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

/** As senders see it. */
export const toFile = ({ id, path: file, name, mime, kind, bytes, sha256 }: ManifestEntry): UploadedFile => ({
  id,
  path: file,
  name,
  mime,
  kind,
  bytes,
  sha256,
});

/** Read at once when lines are looked for from the end. */
const blockBytes = 256 * 1024;
const lineBreak = 0x0a;

/**
 * The list of every finished upload, one JSON line each, only ever appended to; a second line of an upload, with
 * `deleted_at`, says that its file was deleted, and soon takes the place of the first. Its paths are relative to the upload area, so
 * that the data folder can be moved. A line that was torn by the end of a
 * machine is skipped by readers, and the next one begins on a line of its own.
 */
export class Manifest {
  readonly #area: string;
  readonly #file: string;
  readonly #inTurn = createLane(1);

  constructor(area: string) {
    this.#area = area;
    this.#file = path.join(area, 'manifest.jsonl');
  }

  /** Resolves when the line is on the disk. One line at a time. */
  append(entry: ManifestEntry): Promise<void> {
    return this.#inTurn(() => this.#write(entry));
  }

  /** Takes what is said of deleted files out of the list. Their ids stay. */
  forgetDeleted(): Promise<void> {
    return this.#inTurn(async () => {
      const deleted = new Map<string, number>();
      for await (const entry of this.#lines())
        if (entry.deleted_at !== undefined && !isForgotten(entry)) deleted.set(entry.id, entry.deleted_at);
      if (deleted.size > 0) await forgetDeleted(this.#file, deleted);
    });
  }

  async #write(entry: ManifestEntry): Promise<void> {
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const handle = await open(this.#file, flags, 0o600);
    try {
      const { size } = await handle.stat();
      const line = Buffer.from(`${(await endsTorn(handle, size)) ? '\n' : ''}${JSON.stringify(movable(entry, this.#area))}\n`);
      try {
        for (let done = 0; done < line.length;) done += (await handle.write(line, done)).bytesWritten;
        await handle.datasync();
      } catch (error) {
        await handle.truncate(size).catch(() => undefined); // what is left of the line is skipped by readers
        throw error;
      }
    } finally {
      await handle.close();
    }
  }

  /** Files that there are, newest first. */
  async *newest(): AsyncGenerator<ManifestEntry> {
    for await (const { entry, isDeleted } of this.#uploads()) if (!isDeleted) yield entry;
  }

  /** At most `limit` files that fit, behind the one with the id `before`, which may be deleted by now; newest first. */
  async page(
    before: string | null,
    limit: number,
    fits: (entry: ManifestEntry) => boolean = () => true,
  ): Promise<ManifestEntry[]> {
    const files: ManifestEntry[] = [];
    let isBehind = before === null;
    for await (const { entry, isDeleted } of this.#uploads()) {
      if (isBehind && !isDeleted && fits(entry)) files.push(entry);
      if (files.length === limit) break;
      isBehind ||= entry.id === before;
    }
    return files;
  }

  /** The file with this id; null when there is none, or no more. */
  async find(id: string): Promise<ManifestEntry | null> {
    const last = await this.#lastOf(id);
    return last?.deleted_at === undefined ? last : null;
  }

  async isDeleted(id: string): Promise<boolean> {
    return (await this.#lastOf(id))?.deleted_at !== undefined;
  }

  async #lastOf(id: string): Promise<ManifestEntry | null> {
    for await (const entry of this.#lines()) if (entry.id === id) return entry;
    return null;
  }

  /** Each upload once, newest first. What was deleted is known by then: that line stands behind the first. */
  async *#uploads(): AsyncGenerator<{ entry: ManifestEntry; isDeleted: boolean }> {
    const deleted = new Set<string>();
    for await (const entry of this.#lines()) {
      if (isForgotten(entry)) yield { entry, isDeleted: true };
      else if (entry.deleted_at !== undefined) deleted.add(entry.id);
      else yield { entry, isDeleted: deleted.has(entry.id) };
    }
  }

  /** From the end of the file, so that what is asked for most costs least. Lines that are not entries are skipped. */
  async *#lines(): AsyncGenerator<ManifestEntry> {
    const handle = await openToRead(this.#file);
    if (handle === null) return;
    try {
      let end = (await handle.stat()).size;
      let rest: Buffer = Buffer.alloc(0);
      while (end > 0) {
        const start = Math.max(0, end - blockBytes);
        const block = Buffer.allocUnsafe(end - start);
        await handle.read(block, 0, block.length, start);
        const text = Buffer.concat([block, rest]);
        const first = start === 0 ? -1 : text.indexOf(lineBreak);
        // Without a line break the whole block belongs to a line that begins before it.
        rest = start > 0 && first === -1 ? text : text.subarray(0, Math.max(0, first));
        if (start === 0 || first !== -1) yield* this.#entries(text.subarray(first + 1));
        end = start;
      }
    } finally {
      await handle.close();
    }
  }

  #entries(text: Buffer): ManifestEntry[] {
    const lines = text.toString('utf8').split('\n').toReversed();
    return lines.flatMap((line) => parseEntry(line) ?? []).map((entry) => placed(entry, this.#area));
  }
}

async function endsTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== lineBreak;
}

/** The form on the disk, and the form in use. */
export const movable = (entry: ManifestEntry, area: string): ManifestEntry => ({
  ...entry,
  path: path.relative(area, entry.path),
});
export const placed = (entry: ManifestEntry, area: string): ManifestEntry => ({ ...entry, path: path.join(area, entry.path) });

/** Of a deleted file of which nothing but its id is known any more. */
const isForgotten = (entry: Partial<ManifestEntry>): boolean => entry.deleted_at !== undefined && entry.name === undefined;

/** Null for an empty line, or one that was torn. */
function parseEntry(line: string): ManifestEntry | null {
  const entry = parseJsonOrNull(line) as ManifestEntry | null;
  return typeof entry?.path === 'string' && typeof entry.id === 'string' ? entry : null;
}
