import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { channelLine } from '@svc/connector-kit/channel-line.ts';
import {
  bounded,
  createTakeFile as createTakeAnyFile,
  megabytes,
  type FileOrigin,
  type TakeFile as TakeAnyFile,
  type TakenFile,
} from '@svc/connector-kit/ingress/take-file.ts';
import type { MessageFile } from './message-file.ts';
import type { OpenFile } from './open-file.ts';

export type TakeFile = TakeAnyFile<MessageFile>;

type Deps = Pick<StartContext, 'uploads' | 'speech' | 'log'> & {
  open: OpenFile;
  photoDir: string;
  /** Prefix of photo names: bots that share a folder have messages with the same ids. */
  photoPrefix: string;
  /** Telegram's own servers offer bots at most 20 MB. */
  maxBytes: number;
};

/** A photo up to this size is sent with the message; of a larger one, only the name. */
const maxInlinePhoto = 5 * 1024 * 1024;

/** Passes the file of a message to the assistant. Photos are also kept in a folder. */
export function createTakeFile({ uploads, speech, log, open, photoDir, photoPrefix, maxBytes }: Deps): TakeFile {
  async function photo(file: MessageFile, { conversationKey, message, signal }: FileOrigin): Promise<TakenFile> {
    const place = path.join(photoDir, `${photoPrefix}${message.replaceAll(/[^\w-]/g, '_')}.jpg`);
    await keep(place, await open(file.id, signal), maxBytes);
    const { size } = await stat(place);
    if (size > maxInlinePhoto) return { words: channelLine('Photo of', ` ${megabytes(size)}, saved as ${place}`) };
    const data = await readFile(place);
    const { name, mime = 'image/jpeg' } = file;
    return { attachment: await uploads.save({ name, mime, data, conversation_key: conversationKey }) };
  }

  return createTakeAnyFile<MessageFile>({
    uploads,
    speech,
    log,
    open: ({ id }, signal) => open(id, signal),
    maxBytes,
    bring: (file, origin) => (file.kind === 'photo' ? photo(file, origin) : null),
  });
}

/** Stores the file completely or not at all. */
async function keep(place: string, data: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
  const part = `${place}.part`;
  try {
    // Removed first: what a killed process or someone with access to the folder left there is not written through.
    await rm(part, { force: true });
    await pipeline(bounded(data, maxBytes), createWriteStream(part, { mode: 0o600, flags: 'wx' }));
    await rename(part, place);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
