import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { kindOfMime, mimeOfName, plainMime, safeFileName } from '../file/file-name.ts';
import { openToRead } from '../file/open-to-read.ts';
import { forgetDeleted } from './forget-deleted.ts';

/** What a sender states about a file. */
export type FileFacts = { filename: string; mime?: string; conversation_key?: string | null };

/** The same as it is stored: with a safe name, and with a type. */
type Named = { name: string; mime: string; conversation_key: string | null };

/** `mask` hides known secrets: a name appears in paths, lists and headers. */
export async function namesOf(
  { filename, mime, conversation_key = null }: FileFacts,
  mask: (text: string) => string,
): Promise<Named> {
  // Once more on the result of the first pass: a removed character may have hidden a secret.
  const name = safeFileName(mask(safeFileName(mask(filename))));
  return { name, mime: plainMime(mime) ?? (await mimeOfName(name)), conversation_key };
}

/** The entry of a complete file, with its path in the upload area. */
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

/** A file in the form that senders get. */
export const toFile = ({ id, path: file, name, mime, kind, bytes, sha256 }: ManifestEntry): UploadedFile => ({
  id,
  path: file,
  name,
  mime,
  kind,
  bytes,
  sha256,
});

/** How much is read at a time when lines are searched from the end. */
const blockBytes = 256 * 1024;
const lineBreak = 0x0a;

/**
 * The list of all finished uploads, one JSON line each. Lines are appended; a second line of an upload, with `deleted_at`, marks its file
 * as deleted, and later replaces the first. Paths are relative to the upload area, so that the data folder can be moved. Readers skip a
 * line that a power failure left incomplete, and the next one starts on a line of its own.
 */
export class Manifest {
  readonly #area: string;
  readonly #file: string;
  readonly #inTurn = createLane(1);

  constructor(area: string) {
    this.#area = area;
    this.#file = path.join(area, 'manifest.jsonl');
  }

  /** Resolves when the line is on the disk. Appends are serialized. */
  append(entry: ManifestEntry): Promise<void> {
    return this.#inTurn(() => this.#write(entry));
  }

  /** Removes the details of deleted files from the list. Their ids stay. */
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
        await handle.truncate(size).catch(() => undefined); // readers skip an incomplete line
        throw error;
      }
    } finally {
      await handle.close();
    }
  }

  /** Existing files, newest first. */
  async *newest(): AsyncGenerator<ManifestEntry> {
    for await (const { entry, isDeleted } of this.#uploads()) if (!isDeleted) yield entry;
  }

  /** At most `limit` matching files after the one with the id `before`, which may be deleted; newest first. */
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

  /** The file with this id; null when it is unknown or deleted. */
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

  /** Each upload once, newest first. The line that marks a deletion is behind the first, so it is read before it. */
  async *#uploads(): AsyncGenerator<{ entry: ManifestEntry; isDeleted: boolean }> {
    const deleted = new Set<string>();
    for await (const entry of this.#lines()) {
      if (isForgotten(entry)) yield { entry, isDeleted: true };
      else if (entry.deleted_at !== undefined) deleted.add(entry.id);
      else yield { entry, isDeleted: deleted.has(entry.id) };
    }
  }

  /** Reads from the end of the file, because recent entries are asked for most. Lines that are not entries are skipped. */
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
        // Without a line break, the whole block belongs to a line that begins in an earlier one.
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

/** Conversions between the form on the disk and the form in use. */
export const movable = (entry: ManifestEntry, area: string): ManifestEntry => ({
  ...entry,
  path: path.relative(area, entry.path),
});
export const placed = (entry: ManifestEntry, area: string): ManifestEntry => ({ ...entry, path: path.join(area, entry.path) });

/** A deleted file of which only the id is known. */
const isForgotten = (entry: Partial<ManifestEntry>): boolean => entry.deleted_at !== undefined && entry.name === undefined;

/** Null for an empty or incomplete line. */
function parseEntry(line: string): ManifestEntry | null {
  const entry = parseJsonOrNull(line) as ManifestEntry | null;
  return typeof entry?.path === 'string' && typeof entry.id === 'string' ? entry : null;
}
