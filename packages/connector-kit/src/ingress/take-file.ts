import type { Attachment } from '@svc/contract/envelope.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';
import { channelHeads, channelLine, type ChannelHead } from '../channel-line.ts';
import { typedText } from '../typed-text.ts';
import { isPassing } from './passing-faults.ts';

/** A file of a message. `spoken`: its transcript replaces it. */
export type IncomingFile = {
  kind: 'spoken' | 'file';
  /** What people call it. */
  what: string;
  name: string;
  mime?: string;
  bytes?: number;
  seconds?: number;
};
/** The result for a file: a text, a file of the upload area, or both. */
export type TakenFile = { words?: string; attachment?: Attachment };
export type FileOrigin = { conversationKey: string; sender: string; message: string; signal: AbortSignal };
export type TakeFile<File> = (file: File, origin: FileOrigin) => Promise<TakenFile>;

type OfKind<File> = Omit<IncomingFile, 'kind'> & { kind: File };
type Options<File> = Pick<StartContext, 'uploads' | 'speech' | 'log'> & {
  /** Rejects with a `ServiceError`: `unavailable` for what may pass. */
  open(file: File, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Of a larger file, only the name is passed on. */
  maxBytes: number;
  /** For files that need special handling; null for all others. */
  bring?(file: File, origin: FileOrigin): Promise<TakenFile> | null;
};

const mb = 1024 * 1024;
/** A clip is held in memory while it is heard, one at a time. */
const maxSpoken = 20 * mb;

/** Passes files of messages to the assistant. Rejects only with temporary errors, after which the message must be sent again. */
export function createTakeFile<File extends OfKind<string>>(options: Options<File>): TakeFile<File> {
  const { uploads, speech, open, maxBytes, log } = options;
  const inTurn = createInTurnByKey();

  const attach = async (file: File, { conversationKey, signal }: FileOrigin): Promise<TakenFile> => ({
    attachment: await uploads.save({
      name: file.name,
      ...(file.mime !== undefined && { mime: file.mime }),
      data: await open(file, signal),
      conversation_key: conversationKey,
      maxBytes,
    }),
  });

  /** A clip that cannot be transcribed is passed on as a file. */
  async function spoken(file: File, origin: FileOrigin): Promise<TakenFile> {
    const { what, mime, seconds } = file;
    const line = (rest = '') => [spokenHead(what), `${seconds === undefined ? '' : `, ${seconds} s`}${rest}`] as const;
    const data = await collect(await open(file, origin.signal));
    try {
      const { text } = await speech.transcribe({ sender: origin.sender, data, ...(mime && { mime }) }, origin.signal);
      const said = text.trim();
      return {
        words: said === '' ? channelLine(...line(' without speech')) : `${channelLine(...line())} ${typedText(said)}`,
      };
    } catch (error) {
      if (isPassing(error) && !isOfProvider(error)) throw error;
      log('warn', 'a spoken message could not be transcribed', { error: errorText(error) });
      const attachment = await uploads.save({
        name: file.name,
        ...(mime && { mime }),
        data,
        conversation_key: origin.conversationKey,
      });
      return { words: channelLine(...line(`; it could not be transcribed: ${errorText(error)}`)), attachment };
    }
  }

  function bring(file: File, origin: FileOrigin): Promise<TakenFile> {
    const brought = options.bring?.(file, origin) ?? null;
    if (brought !== null) return brought;
    return file.kind === 'spoken' ? inTurn('', () => spoken(file, origin)) : attach(file, origin);
  }

  return async (file, origin) => {
    const { what, name, bytes = 0, kind } = file;
    const notTaken = (rest: string): TakenFile => ({ words: channelLine('Sent file', `: ${what} "${name}"${rest}`) });
    const limit = kind === 'spoken' ? Math.min(maxSpoken, maxBytes) : maxBytes;
    if (bytes > limit)
      return notTaken(` of ${megabytes(bytes)}: not accepted, because files may have at most ${megabytes(limit)}`);
    try {
      return await bring(file, origin);
    } catch (error) {
      if (isPassing(error) || origin.signal.aborted) throw error;
      log('warn', 'a file could not be processed', { message: origin.message, error: errorText(error) });
      return notTaken(`: not accepted, because ${errorText(error)}`);
    }
  };
}

/** The core answered that no speech provider is set up or reachable. The message does not wait for that. */
const isOfProvider = (error: unknown): boolean => error instanceof ServiceError && error.details['reason'] !== undefined;
const spokenHead = (what: string): ChannelHead => channelHeads.find((head) => head === what) ?? 'Voice message';

async function collect(data: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bounded(data, maxSpoken)) parts.push(part);
  return Buffer.concat(parts);
}

/** Fails with `too_large` after this many bytes. */
export async function* bounded(data: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of data) {
    bytes += part.length;
    if (bytes > maxBytes) throw new ServiceError('too_large', `it is larger than ${megabytes(maxBytes)}`);
    yield part;
  }
}

export const megabytes = (bytes: number): string => `${Math.max(0.1, Math.floor((bytes / mb) * 10) / 10)} MB`;
