import { open, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { UploadState, UploadedFile } from '@svc/contract/upload.ts';
import { checkFile } from '../check-file.ts';
import { CliError } from '../cli-error.ts';
import type { UploadProgress } from './progress.ts';
import type { FileFacts, Resumable } from './resumable.ts';
import type { UploadClient } from './upload-client.ts';

export type UploadWork = {
  client: UploadClient;
  resumable: Resumable;
  file: string;
  mime: string;
  /** Chunks in parallel. */
  parallel: number;
  onProgress: (progress: UploadProgress) => void;
};

/**
 * Uploads a file in chunks, or the rest of it when it was begun before and has not changed since. Nothing is lost when it stops at any
 * point: the next try resumes.
 * @throws CliError
 */
export async function uploadFile({ client, resumable, file, mime, parallel, onProgress }: UploadWork): Promise<UploadedFile> {
  const facts = await factsOf(file);
  const known = resumable.find(facts);
  const resumed = known === null ? null : await client.state(known);
  const state = resumed ?? (await client.begin({ filename: path.basename(file), mime, size: facts.size }));
  if (state === null) throw new CliError('the core does not accept uploads.', { run: './svc doctor' });
  resumable.keep(facts, state.upload_id);
  if (state.file === undefined) await sendMissing(state);
  const finished = state.file === undefined ? await client.finish(state.upload_id) : { file: state.file };
  resumable.forget(facts);
  if (finished === null) throw gone();
  return finished.file;

  async function sendMissing({ upload_id, chunk_size, chunks, received, size }: UploadState): Promise<void> {
    const landed = new Set(received);
    const left = Array.from({ length: chunks }, (_, index) => index).filter((index) => !landed.has(index));
    const lengthOf = (index: number) => Math.min(chunk_size, size - index * chunk_size);
    const resumedAt = received.reduce((sum, index) => sum + lengthOf(index), 0);
    let sent = resumedAt;
    onProgress({ sent, size, resumedAt });
    const handle = await open(file, 'r');
    const work = async () => {
      for (let index = left.shift(); index !== undefined; index = left.shift()) {
        const bytes = await readChunk(handle, index * chunk_size, lengthOf(index));
        if ((await client.put(upload_id, index, bytes)) === null) throw gone();
        sent += bytes.length;
        onProgress({ sent, size, resumedAt });
      }
    };
    try {
      await allOrFirstFault(Array.from({ length: parallel }, work), () => left.splice(0));
    } finally {
      await handle.close();
    }
    if ((await factsOf(file)).modifiedAt !== facts.modifiedAt) {
      resumable.forget(facts);
      throw new CliError('the file changed while it was sent.', {
        why: 'The uploaded data is a mixture of both versions.',
        run: `./svc upload '${file}'`,
      });
    }
  }
}

async function factsOf(file: string): Promise<FileFacts> {
  checkFile(file);
  const found = await stat(file);
  if (found.size === 0) await refuseUnsized(file);
  return { file: path.resolve(file), size: found.size, modifiedAt: found.mtimeMs };
}

/** Virtual files (/proc) report a size of zero, but have content. */
async function refuseUnsized(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    const { bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, 0);
    if (bytesRead > 0)
      throw new CliError(`${file} does not say how long it is.`, { why: 'Copy it to a file of its own, then send that.' });
  } finally {
    await handle.close();
  }
}

async function readChunk(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) throw new CliError('the file became shorter while it was sent.');
    done += bytesRead;
  }
  return bytes;
}

/** After the first failure no new chunk starts, and the running ones finish first. */
async function allOrFirstFault(works: Promise<void>[], stop: () => void): Promise<void> {
  const ends = await Promise.allSettled(works.map((work) => work.catch((error: unknown) => (stop(), Promise.reject(error)))));
  const fault = ends.find((end) => end.status === 'rejected');
  if (fault !== undefined) throw fault.reason;
}

const gone = () =>
  new CliError('the core no longer knows this upload.', {
    why: 'It was discarded, or nothing came for a day.',
    run: './svc upload FILE',
  });
