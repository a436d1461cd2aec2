import type { Readable } from 'node:stream';
import type { DeletedUpload, FileKind, ManifestEntry, UploadedFile, UploadState } from '@svc/contract/upload.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { conflict, errorText, notFound, queueFull } from '@svc/service-kit/service-error.ts';
import { checkSpace } from '../file/disk-space.ts';
import { type ChunkBody, ChunkedUpload } from './chunked-upload.ts';
import { deleteFile } from './delete-file.ts';
import { entryOf, type FileFacts, Manifest, namesOf, toFile } from './manifest.ts';
import { sameFile, verifyUpload } from './verify-upload.ts';
import { endDecided } from './end-decided.ts';
import { type Area, publish } from './publish.ts';
import { Staging, type UploadPlan } from './staging.ts';
import { storageFault, stored, tooLarge } from '../file/store-stream.ts';
import { publishWhole, storeWhole } from './whole-file.ts';

export type UploadDeps = {
  uploads: string;
  settings: Pick<CoreSettings, 'uploadChunkBytes' | 'uploadMaxChunkBytes' | 'uploadMaxBytes' | 'rawBodyBytes'>;
  clock: Clock;
  ids: Ids;
  log: Pick<Log, 'warn' | 'error'>;
  /** Applied to the names of files. */
  mask: Pick<OutboundMask, 'text'>;
};

export type UploadRequest = FileFacts & { size: number; sha256?: string };

/** The state of an upload: in progress, or a finished file. */
type Found = { upload: ChunkedUpload } | { file: ManifestEntry };

/** The limit of concurrent uploads; each takes a folder and a little memory. */
const maxUploads = 1000;
/** An upload that receives nothing for this long is removed. */
export const staleMs = 24 * 60 * 60_000;

/**
 * The upload area: files that arrived whole or in chunks. Each has a file and a line in the manifest, or neither. The whole state of an
 * upload is on the disk, so it continues after any restart.
 */
export class Uploads {
  readonly manifest: Manifest;
  readonly #deps: UploadDeps;
  readonly #staging: Staging;
  readonly #area: Area;
  /** Uploads that have received something since the start; others are read from the disk on demand. */
  readonly #live = new Map<string, Promise<ChunkedUpload | null>>();
  /** Serializes the ends of one upload, so that it has only one. */
  readonly #end = createInTurnByKey();
  /** Uploads without an end. The first sweep finds those of an earlier process. */
  readonly #begun = new Set<string>();
  #lateFault: string | null = null;

  constructor(deps: UploadDeps) {
    this.#deps = deps;
    this.manifest = new Manifest(deps.uploads);
    this.#staging = new Staging(deps.uploads);
    const onLateFault = ({ id, path: file }: ManifestEntry, error: unknown) => {
      this.#lateFault = `${file} could not be completely written to the disk (${errorText(error)}). Check the disk, then upload that file again.`;
      deps.log.error({ err: error, upload: id }, 'a finished upload could not be written out to the disk');
    };
    this.#area = { folder: deps.uploads, staging: this.#staging, manifest: this.manifest, onLateFault };
  }

  /** @throws ServiceError `too_large`, `insufficient_storage`, `queue_full`. */
  async begin({ size, sha256, ...facts }: UploadRequest): Promise<UploadState> {
    const { uploadMaxBytes, uploadChunkBytes } = this.#deps.settings;
    if (size > uploadMaxBytes) throw tooLarge(uploadMaxBytes, 'SVC_UPLOAD_MAX_SIZE');
    if (this.#begun.size >= maxUploads) throw queueFull('Too many uploads are in progress. Finish or discard some first.', 60);
    const id = this.#deps.ids.next('upl');
    const plan = {
      ...(await namesOf(facts, this.#deps.mask.text)),
      size,
      sha256: sha256?.toLowerCase() ?? null,
      chunk_size: uploadChunkBytes,
      chunks: Math.ceil(size / uploadChunkBytes),
      created_at: this.#deps.clock.now(),
    };
    await stored(this.#plan(id, plan));
    this.#begun.add(id);
    return (await this.#upload(id)).state();
  }

  async #plan(id: string, plan: UploadPlan): Promise<void> {
    this.#prepare();
    await checkSpace(this.#deps.uploads, plan.size);
    try {
      await this.#staging.plan(id, plan);
    } catch (error) {
      await this.#staging.remove(id);
      throw error;
    }
  }

  /** The conversation that an upload, or the file it became, belongs to. @throws ServiceError `not_found`. */
  async keyOf(id: string): Promise<string | null> {
    const known = await this.#live.get(id);
    const found = known ? { upload: known } : await this.#end(id, () => this.#find(id));
    return 'upload' in found ? found.upload.plan.conversation_key : found.file.conversation_key;
  }

  /** @throws ServiceError `not_found`. */
  async state(id: string): Promise<UploadState> {
    const known = await this.#live.get(id);
    // The first caller completes a decided upload, one caller at a time.
    const found = known ? { upload: known } : await this.#end(id, () => this.#find(id));
    if ('upload' in found) return found.upload.state();
    const { bytes } = found.file;
    const received = bytes === 0 ? [] : [0];
    return { upload_id: id, size: bytes, chunk_size: bytes, chunks: received.length, received, file: toFile(found.file) };
  }

  /** Returns how many chunks are stored, and the total. */
  async receive(id: string, index: number, chunk: ChunkBody): Promise<{ received_count: number; chunks: number }> {
    const upload = await this.#upload(id);
    await stored(upload.receive(index, chunk)).catch(async (error: unknown) => {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT' && (await this.#live.get(id)) !== upload;
      throw isGone ? notFound('upload', id) : error;
    });
    return { received_count: upload.receivedCount, chunks: upload.plan.chunks };
  }

  /** Returns the file, also on repeated calls. @throws ServiceError `not_found`, `conflict`, `unprocessable`. */
  finish(id: string, sha256?: string): Promise<UploadedFile> {
    return this.#end(id, async () => {
      const found = await this.#find(id);
      const expected = sha256?.toLowerCase() ?? null;
      if ('file' in found) return toFile(sameFile(found.file, expected));
      const { upload } = found;
      const digest = await verifyUpload(upload, this.#staging, expected);
      const entry = entryOf(this.#deps.uploads, id, upload.plan, digest);
      await stored(publish(this.#area, entry, upload.unsynced, () => upload.syncAll()));
      this.#forget(id);
      return toFile(entry);
    });
  }

  /** @throws ServiceError `not_found`; `conflict` for one that is a file already. */
  discard(id: string): Promise<void> {
    return this.#end(id, async () => {
      const found = await this.#find(id);
      if ('file' in found)
        throw conflict(`This upload is finished: its file is in the upload area. DELETE /v2/uploads/${id} deletes it.`);
      this.#forget(id);
      await this.#staging.remove(id);
    });
  }

  /** Deletes a file of the area. @throws ServiceError `not_found`; `conflict` when something else is in its place. */
  delete(id: string): Promise<DeletedUpload> {
    return this.#end(id, () => stored(deleteFile(this.#area, id, this.#deps.clock.now())));
  }

  /**
   * Receives a file in one piece; its kind follows from its type by default.
   * @throws ServiceError `too_large`, `bad_request`, `insufficient_storage`.
   */
  async take(body: Readable, facts: FileFacts, kind?: FileKind): Promise<UploadedFile> {
    const { uploads, clock, ids, settings } = this.#deps;
    const id = ids.next('upl');
    try {
      this.#prepare();
      const { size, sha256 } = await storeWhole(this.#staging, id, body, settings.rawBodyBytes);
      const plan = { ...(await namesOf(facts, this.#deps.mask.text)), size, created_at: clock.now() };
      const entry = { ...entryOf(uploads, id, plan, sha256), ...(kind !== undefined && { kind }) };
      return await this.#end(id, () => publishWhole(this.#area, entry));
    } catch (error) {
      await this.#staging.remove(id);
      throw storageFault(error);
    } finally {
      this.#forget(id); // a sweep may have counted it as a chunked upload
    }
  }

  /**
   * Completes what an earlier process left unfinished, removes uploads that received nothing for a day, and forgets the names of deleted
   * files.
   */
  async sweep(): Promise<void> {
    const ids = await this.#staging.list();
    // Includes those whose folder was removed.
    for (const id of new Set([...ids, ...this.#begun])) {
      await this.#end(id, () => this.#sweepOne(id)).catch((error: unknown) =>
        this.#deps.log.error({ err: error, upload: id }, 'a staged upload could not be swept'),
      );
    }
    await this.manifest.forgetDeleted();
  }

  /** Notices for the operator. */
  notices = (): string[] => (this.#lateFault === null ? [] : [this.#lateFault]);

  async #sweepOne(id: string): Promise<void> {
    const ended = await this.#endDecided(id);
    if (ended === 'deleted') return;
    if (ended === null) this.#begun.add(id);
    const upload = await this.#live.get(id);
    const touchedAt = await this.#staging.touchedAt(id);
    if (touchedAt === null) return this.#forget(id);
    if ((upload?.writing ?? 0) > 0 || this.#deps.clock.now() - touchedAt < staleMs) return;
    this.#forget(id);
    await this.#staging.remove(id);
    if (ended === null) this.#deps.log.warn({ upload: id }, 'an upload that received no data for a day was removed');
  }

  async #find(id: string): Promise<Found> {
    const ended = await this.#endDecided(id);
    if (ended === 'deleted') throw notFound('file', id);
    return ended === null ? { upload: await this.#upload(id) } : { file: ended };
  }

  async #endDecided(id: string): Promise<ManifestEntry | 'deleted' | null> {
    const ended = await stored(endDecided(this.#area, id));
    if (ended !== null) this.#forget(id);
    return ended;
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
    const whileOpen = (work: () => Promise<void>) =>
      this.#end(id, async () => ('file' in (await this.#find(id)) ? Promise.reject(notFound('upload', id)) : work()));
    return new ChunkedUpload(id, staged, this.#staging, { maxChunk: this.#deps.settings.uploadMaxChunkBytes, whileOpen });
  }

  #forget(id: string): void {
    this.#live.delete(id);
    this.#begun.delete(id);
  }

  #prepare(): void {
    makePrivateDir(this.#deps.uploads);
    makePrivateDir(this.#staging.folder);
  }
}
