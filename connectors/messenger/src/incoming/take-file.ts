import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import type { Attachment } from '@svc/contract/envelope.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { MessageFile } from './message-file.ts';
import type { OpenFile } from './open-file.ts';

/** What became of a file: words, a file of the upload area, or both. */
export type TakenFile = { words?: string; attachment?: Attachment };
export type FileOrigin = { conversationKey: string; sender: string; message: string; signal: AbortSignal };
export type TakeFile = (file: MessageFile, origin: FileOrigin) => Promise<TakenFile>;

type Deps = Pick<StartContext, 'uploads' | 'speech' | 'log'> & {
  open: OpenFile;
  photoDir: string;
  /** Before the names of photos: bots that share a folder have messages of the same ids. */
  photoPrefix: string;
  /** Telegram's own servers give bots no more than 20 MB. */
  maxBytes: number;
};

const mb = 1024 * 1024;
/** A photo up to here goes along with the message, a larger one is named. */
const maxInlinePhoto = 5 * mb;
/** A clip is held in memory while it is heard, one at a time. */
const maxSpoken = 20 * mb;

/** Brings the file of a message to the assistant. Rejects only with what passes: then the message is to be given again. */
export function createTakeFile(deps: Deps): TakeFile {
  const { uploads, speech, open, photoDir, photoPrefix, maxBytes, log } = deps;
  const inTurn = createInTurnByKey();

  const attach = async (file: MessageFile, { conversationKey, signal }: FileOrigin): Promise<TakenFile> => ({
    attachment: await uploads.save({
      name: file.name,
      ...(file.mime !== undefined && { mime: file.mime }),
      data: await open(file.id, signal),
      conversation_key: conversationKey,
      maxBytes,
    }),
  });

  async function photo(file: MessageFile, { conversationKey, message, signal }: FileOrigin): Promise<TakenFile> {
    const place = path.join(photoDir, `${photoPrefix}${message.replaceAll(/[^\w-]/g, '_')}.jpg`);
    await keep(place, await open(file.id, signal), maxBytes);
    const { size } = await stat(place);
    if (size > maxInlinePhoto) return { words: `[Photo of ${megabytes(size)}, saved as ${place}]` };
    const data = await readFile(place);
    const { name, mime = 'image/jpeg' } = file;
    return { attachment: await uploads.save({ name, mime, data, conversation_key: conversationKey }) };
  }

  /** What cannot be heard goes along as the clip that it is. */
  async function spoken(file: MessageFile, origin: FileOrigin): Promise<TakenFile> {
    const { what, mime, seconds } = file;
    const heading = seconds === undefined ? what : `${what}, ${seconds} s`;
    const data = await collect(await open(file.id, origin.signal));
    try {
      const { text } = await speech.transcribe({ sender: origin.sender, data, ...(mime && { mime }) }, origin.signal);
      return { words: text.trim() === '' ? `[${heading}, in which nothing is said]` : `[${heading}] ${text.trim()}` };
    } catch (error) {
      if (isPassing(error)) throw error;
      log('warn', 'a spoken message could not be transcribed', { error: errorText(error) });
      const attachment = await uploads.save({
        name: file.name,
        ...(mime && { mime }),
        data,
        conversation_key: origin.conversationKey,
      });
      return { words: `[${heading}; it could not be transcribed: ${errorText(error)}]`, attachment };
    }
  }

  function bring(file: MessageFile, origin: FileOrigin): Promise<TakenFile> {
    if (file.kind === 'photo') return photo(file, origin);
    return file.kind === 'spoken' ? inTurn('', () => spoken(file, origin)) : attach(file, origin);
  }

  return async (file, origin) => {
    const { what, name, bytes = 0, kind } = file;
    const limit = kind === 'spoken' ? Math.min(maxSpoken, maxBytes) : maxBytes;
    if (bytes > limit)
      return { words: `[${what} "${name}" of ${megabytes(bytes)}: not taken, because files may have ${megabytes(limit)} here]` };
    try {
      return await bring(file, origin);
    } catch (error) {
      if (isPassing(error) || origin.signal.aborted) throw error;
      log('warn', 'a file could not be taken', { message: origin.message, error: errorText(error) });
      return { words: `[${what} "${name}": not taken, because ${errorText(error)}]` };
    }
  };
}

/** Whole or not at all. */
async function keep(place: string, data: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
  const part = `${place}.part`;
  try {
    // What a kill left there, or who else may write to the folder put there, is not written through.
    await rm(part, { force: true });
    await pipeline(bounded(data, maxBytes), createWriteStream(part, { mode: 0o600, flags: 'wx' }));
    await rename(part, place);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function collect(data: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bounded(data, maxSpoken)) parts.push(part);
  return Buffer.concat(parts);
}

async function* bounded(data: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of data) {
    bytes += part.length;
    if (bytes > maxBytes) throw new ServiceError('too_large', `it has more than ${megabytes(maxBytes)}`);
    yield part;
  }
}

const megabytes = (bytes: number): string => `${Math.max(0.1, Math.floor((bytes / mb) * 10) / 10)} MB`;
