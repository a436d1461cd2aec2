import { createHash } from 'node:crypto';
import { rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { FileKind, ManifestEntry, UploadState, UploadedFile } from '@svc/contract/upload.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { ServiceError, badRequest, conflict, notFound, queueFull } from '@svc/service-kit/service-error.ts';
import { ChunkedUpload, type ChunkBody } from './chunked-upload.ts';
import { kindOfMime, mimeOfName, plainMime, safeFileName } from './file-name.ts';
import { Manifest } from './manifest.ts';
import { publish, publishAgain, type Area } from './publish.ts';
import { Staging, type UploadPlan } from './staging.ts';
import { storageFault, storeStream } from './store-stream.ts';

export type UploadDeps = {
  uploads: string;
  settings: Pick<Settings, 'uploadChunkBytes' | 'uploadMaxChunkBytes' | 'uploadMaxBytes' | 'rawBodyBytes'>;
  clock: Clock;
  ids: Ids;
  log: Pick<Log, 'warn' | 'error'>;
};

export type FileFacts = { filename: string; mime?: string; conversation_key?: string | null };
export type UploadRequest = FileFacts & { size: number; sha256?: string };

/** What an upload has reached: on its way, or a file. */
type Found = { upload: ChunkedUpload } | { file: ManifestEntry };

/** Uploads at once; each holds a folder and a little memory. */
const maxUploads = 1000;
const missingShown = 100;
/** What nothing came for in this long is removed. */
export const staleMs = 24 * 60 * 60_000;

/**
 * The upload area: files that came whole or in chunks, each a file and one line of the manifest, or neither.
 * Everything about an upload is on the disk, so it goes on where it was after any restart.
 */
export class Uploads {
  readonly manifest: Manifest;
  readonly #deps: UploadDeps;
  readonly #staging: Staging;
  readonly #area: Area;
  /** Those that something came for since the start; the rest is read from the disk when it is asked for. */
  readonly #live = new Map<string, Promise<ChunkedUpload | null>>();
  /** Ends of one upload, one after the other. */
  readonly #ends = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(deps: UploadDeps) {
    this.#deps = deps;
    this.manifest = new Manifest(deps.uploads);
    this.#staging = new Staging(deps.uploads);
    const onLateFault = ({ id }: ManifestEntry, error: unknown) =>
      deps.log.error({ err: error, upload: id }, 'a finished upload could not be written out to the disk');
    this.#area = { staging: this.#staging, manifest: this.manifest, onLateFault };
  }

  /** @throws ServiceError `too_large`, `insufficient_storage`, `queue_full`. */
  async begin({ size, sha256, ...facts }: UploadRequest): Promise<UploadState> {
    const { uploadMaxBytes, uploadChunkBytes } = this.#deps.settings;
    if (size > uploadMaxBytes) throw tooLarge(uploadMaxBytes, 'SVC_UPLOAD_MAX_SIZE');
    if (this.#count >= maxUploads) throw queueFull('Too many uploads are on their way. Finish or discard some first.', 60);
    const id = this.#deps.ids.next('upl');
    const plan = {
      ...(await namesOf(facts)),
      size,
      sha256: sha256?.toLowerCase() ?? null,
      chunk_size: uploadChunkBytes,
      chunks: Math.ceil(size / uploadChunkBytes),
      created_at: this.#deps.clock.now(),
    };
    await stored(this.#plan(id, plan));
    this.#count++;
    return (await this.#upload(id)).state();
  }

  async #plan(id: string, plan: UploadPlan): Promise<void> {
    this.#prepare();
    await this.#checkRoom(plan.size);
    try {
      await this.#staging.plan(id, plan);
    } catch (error) {
      await this.#staging.remove(id);
      throw error;
    }
  }

  /** @throws ServiceError `not_found`. */
  async state(id: string): Promise<UploadState> {
    const found = await this.#find(id);
    if ('upload' in found) return found.upload.state();
    const { bytes } = found.file;
    return { upload_id: id, size: bytes, chunk_size: bytes, chunks: 1, received: [0], file: toFile(found.file) };
  }

  /** Gives how many chunks have landed, and of how many. */
  async receive(id: string, index: number, chunk: ChunkBody): Promise<{ received_count: number; chunks: number }> {
    const upload = await this.#upload(id);
    await stored(upload.receive(index, chunk));
    return { received_count: upload.receivedCount, chunks: upload.plan.chunks };
  }

  /** The file, also when it is asked for again. @throws ServiceError `not_found`, `conflict`, `unprocessable`. */
  finish(id: string, sha256?: string): Promise<UploadedFile> {
    return this.#end(id, async () => {
      const found = await this.#find(id);
      if ('file' in found) return toFile(found.file);
      const entry = await this.#prove(found.upload, sha256?.toLowerCase() ?? null);
      await stored(publish(this.#area, entry, found.upload.unsynced));
      this.#forget(id);
      return toFile(entry);
    });
  }

  /** @throws ServiceError `not_found`; `conflict` for one that is a file by now. */
  discard(id: string): Promise<void> {
    return this.#end(id, async () => {
      const found = await this.#find(id);
      if ('file' in found) throw conflict('This upload is finished: its file is in the upload area.');
      this.#forget(id);
      await this.#staging.remove(id);
    });
  }

  /** Takes a file in one piece; its kind is that of its type unless given. @throws ServiceError `too_large`, `bad_request`, `insufficient_storage`. */
  async take(body: Readable, facts: FileFacts, kind?: FileKind): Promise<UploadedFile> {
    const id = this.#deps.ids.next('upl');
    try {
      this.#prepare();
      const stored = await this.#store(id, body, facts);
      const entry = kind === undefined ? stored : { ...stored, kind };
      await publish(this.#area, entry, entry.bytes);
      await this.#staging.remove(id);
      return toFile(entry);
    } catch (error) {
      await this.#takeBack(id);
      throw storageFault(error);
    }
  }

  /** Its sender is told that it failed, so nothing of it stays: only what has its line by now is a file. */
  async #takeBack(id: string): Promise<void> {
    const entry = await this.#staging.decision(id);
    if (entry !== null && (await this.manifest.find(id)) === null) await rm(entry.path, { force: true });
    await this.#staging.remove(id);
  }

  async #store(id: string, body: Readable, facts: FileFacts): Promise<ManifestEntry> {
    const { rawBodyBytes } = this.#deps.settings;
    const hash = createHash('sha256');
    const handle = await this.#staging.begin(id);
    try {
      const size = await storeStream(body, {
        handle,
        position: 0,
        maxBytes: rawBodyBytes,
        tooMuch: () => tooLarge(rawBodyBytes, 'SVC_RAW_BODY_LIMIT'),
        onBytes: (part) => void hash.update(part),
      });
      if (size === 0) throw badRequest('The file is empty.');
      return this.#entry(id, { ...(await namesOf(facts)), size, created_at: this.#deps.clock.now() }, hash.digest('hex'));
    } finally {
      await handle.close();
    }
  }

  /** Ends what an earlier process left in the middle, and removes what nothing came for in a day. */
  async sweep(): Promise<void> {
    const ids = await this.#staging.list();
    for (const id of ids) {
      await this.#end(id, () => this.#sweepOne(id)).catch((error: unknown) =>
        this.#deps.log.error({ err: error, upload: id }, 'a staged upload could not be looked after'),
      );
    }
    this.#count = (await this.#staging.list()).length;
  }

  async #sweepOne(id: string): Promise<void> {
    const entry = await this.#staging.decision(id);
    if (entry !== null) await publishAgain(this.#area, entry);
    const upload = await this.#live.get(id);
    const touchedAt = await this.#staging.touchedAt(id);
    if ((upload?.writing ?? 0) > 0 || touchedAt === null || this.#deps.clock.now() - touchedAt < staleMs) return;
    this.#forget(id);
    await this.#staging.remove(id);
    if (entry === null) this.#deps.log.warn({ upload: id }, 'an upload that nothing came for in a day was removed');
  }

  /** Everything has landed, and is what it was said to be. */
  async #prove(upload: ChunkedUpload, sha256: string | null): Promise<ManifestEntry> {
    const { plan, id } = upload;
    const left = plan.chunks - upload.receivedCount;
    if (left > 0) {
      const missing = upload.missing(missingShown);
      throw conflict(`${left} of ${plan.chunks} chunks are missing. Send them, then finish again.`, {
        missing_count: left,
        missing,
      });
    }
    const size = await this.#staging.size(id);
    const digest = await stored(upload.digest());
    const wrong = [plan.sha256, sha256].find((expected) => expected !== null && expected !== digest);
    if (size === plan.size && wrong === undefined) return this.#entry(id, plan, digest);
    upload.doubt();
    throw new ServiceError(
      'unprocessable',
      size === plan.size
        ? 'The file does not match its sha256. Discard this upload and start over.'
        : `The file has ${size} bytes on the disk, not ${plan.size}. Discard this upload and start over.`,
      { details: { sha256: digest } },
    );
  }

  #entry(id: string, plan: Named & { size: number; created_at: number }, sha256: string): ManifestEntry {
    const { name, mime, conversation_key, size, created_at } = plan;
    const day = new Date(created_at).toISOString().slice(0, 10);
    const file = path.join(this.#deps.uploads, day, `${id.slice('upl_'.length)}-${name}`);
    return { id, path: file, name, mime, kind: kindOfMime(mime), bytes: size, sha256, conversation_key, created_at };
  }

  async #find(id: string): Promise<Found> {
    const entry = await this.#staging.decision(id);
    if (entry !== null) {
      await publishAgain(this.#area, entry);
      return { file: entry };
    }
    return { upload: await this.#upload(id) };
  }

  async #upload(id: string): Promise<ChunkedUpload> {
    let opening = this.#live.get(id);
    if (opening === undefined) {
      opening = this.#open(id);
      this.#live.set(id, opening);
      opening.then(
        (upload) => upload === null && this.#live.delete(id),
        () => this.#live.delete(id),
      );
    }
    const upload = await opening;
    if (upload === null) throw notFound('upload', id);
    return upload;
  }

  async #open(id: string): Promise<ChunkedUpload | null> {
    const staged = await this.#staging.read(id);
    if (staged === null || (await this.#staging.decision(id)) !== null) return null;
    return new ChunkedUpload(id, staged, this.#staging, this.#deps.settings.uploadMaxChunkBytes);
  }

  /** Ends of one upload come one after the other, so that it has one end. */
  #end<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#ends.get(id) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#ends.set(id, mine);
    const clear = () => void (this.#ends.get(id) === mine && this.#ends.delete(id));
    mine.then(clear, clear);
    return mine;
  }

  #forget(id: string): void {
    this.#live.delete(id);
    this.#count = Math.max(0, this.#count - 1);
  }

  #prepare(): void {
    makePrivateDir(this.#deps.uploads);
    makePrivateDir(this.#staging.folder);
  }

  async #checkRoom(size: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#deps.uploads);
    const free = bavail * bsize;
    if (size <= free) return;
    throw new ServiceError(
      'insufficient_storage',
      `The disk has ${free} bytes left, and this file has ${size}. Free some space.`,
      {
        details: { free, size },
      },
    );
  }
}

type Named = { name: string; mime: string; conversation_key: string | null };

async function namesOf({ filename, mime, conversation_key = null }: FileFacts): Promise<Named> {
  const name = safeFileName(filename);
  return { name, mime: plainMime(mime) ?? (await mimeOfName(name)), conversation_key };
}

const toFile = ({ path: file, name, mime, kind, bytes, sha256 }: ManifestEntry): UploadedFile => ({
  path: file,
  name,
  mime,
  kind,
  bytes,
  sha256,
});

const stored = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw storageFault(error);
  });

export const tooLarge = (limit: number, variable: string) =>
  new ServiceError('too_large', `This is larger than ${limit} bytes, the limit that ${variable} sets.`, {
    details: { limit, variable },
  });
