import type { Attachment } from '@svc/contract/envelope.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { StartContext } from '../connector.ts';
import { channelHeads, channelLine, type ChannelHead } from '../channel-line.ts';
import { isOfLink } from '../core-error.ts';
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
  clock?: Clock;
};

const mb = 1024 * 1024;
/** A clip is held in memory while it is heard, one at a time. */
const maxSpoken = 20 * mb;
/** How long a clip may take to be heard, including its wait for others, ms: less than a message may take to be prepared. */
const hearWithinMs = 3.5 * 60_000;

/**
 * After this many attempts with temporary errors, or this long after the first, ms, a message is passed on without its files: given back more
 * often, it would be skipped.
 */
const most = { failures: 45, ms: 3 * 60_000 } as const;
const maxMessages = 1000;

/** Passes files of messages to the assistant. Rejects only with temporary errors, after which the message must be sent again. */
export function createTakeFile<File extends OfKind<string>>(options: Options<File>): TakeFile<File> {
  const { uploads, speech, open, maxBytes, log, clock = systemClock } = options;
  const inTurn = createInTurnByKey();
  /** How often the files of a message have failed, and since when. */
  const failed = new Map<string, { times: number; since: number }>();

  function maySendAgain(error: unknown, message: string): boolean {
    if (!isPassing(error) || isOfLink(error)) return isPassing(error);
    const { times, since } = failed.get(message) ?? { times: 0, since: clock.elapsed() };
    failed.delete(message);
    failed.set(message, { times: times + 1, since });
    forgetOldest(failed, maxMessages);
    return times < most.failures && clock.elapsed() - since <= most.ms;
  }

  const attach = async (file: File, { conversationKey, signal }: FileOrigin): Promise<TakenFile> => ({
    attachment: await uploads.save({
      name: file.name,
      ...(file.mime !== undefined && { mime: file.mime }),
      data: await open(file, signal),
      conversation_key: conversationKey,
      maxBytes,
    }),
  });

  /** A clip that cannot be transcribed, or not soon enough, is passed on as a file. */
  async function spoken(file: File, origin: FileOrigin): Promise<TakenFile> {
    const late = new AbortController();
    const signal = AbortSignal.any([origin.signal, late.signal]);
    const heard = inTurn('', async () => hear(file, { ...origin, signal }));
    const taken = await inTime(heard, hearWithinMs, () => null, clock);
    late.abort();
    if (taken !== null) return taken;
    log('warn', 'a spoken message could not be transcribed in time', { message: origin.message });
    const { attachment } = await attach(file, origin);
    return { words: spokenLine(file, notTranscribed('it took too long')), ...(attachment !== undefined && { attachment }) };
  }

  async function hear(file: File, { sender, conversationKey, signal }: FileOrigin): Promise<TakenFile> {
    const { mime, name } = file;
    signal.throwIfAborted();
    const data = await collect(await open(file, signal));
    try {
      const { text } = await speech.transcribe({ sender, data, ...(mime && { mime }) }, signal);
      const said = text.trim();
      return { words: said === '' ? spokenLine(file, ' without speech') : `${spokenLine(file)} ${typedText(said)}` };
    } catch (error) {
      if (isPassing(error) && !isOfProvider(error)) throw error;
      log('warn', 'a spoken message could not be transcribed', { error: errorText(error) });
      const attachment = await uploads.save({ name, ...(mime && { mime }), data, conversation_key: conversationKey });
      return { words: spokenLine(file, notTranscribed(errorText(error))), attachment };
    }
  }

  function bring(file: File, origin: FileOrigin): Promise<TakenFile> {
    const brought = options.bring?.(file, origin) ?? null;
    if (brought !== null) return brought;
    return file.kind === 'spoken' ? spoken(file, origin) : attach(file, origin);
  }

  return async (file, origin) => {
    const { what, name, bytes = 0, kind } = file;
    const notTaken = (rest: string): TakenFile => ({ words: channelLine('Sent file', `: ${what} "${name}"${rest}`) });
    const limit = kind === 'spoken' ? Math.min(maxSpoken, maxBytes) : maxBytes;
    if (bytes > limit)
      return notTaken(` of ${megabytes(bytes)}: not accepted, because files may have at most ${megabytes(limit)}`);
    try {
      return await Promise.race([bring(file, origin), abortOf(origin.signal)]);
    } catch (error) {
      const { aborted, reason } = origin.signal;
      // The message is not lost when there is no more time for its files; a connector that stops gets it again.
      if (aborted ? !(reason instanceof ServiceError) : maySendAgain(error, origin.message)) throw error;
      log('warn', 'a file could not be processed', { message: origin.message, error: errorText(error) });
      return notTaken(`: not accepted, because ${errorText(aborted ? reason : error)}`);
    }
  };
}

/** Rejects when the signal aborts, for what does not look at it, such as the wait of a clip for others. */
const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** The core answered that no speech provider is set up or reachable. The message does not wait for that. */
const isOfProvider = (error: unknown): boolean => error instanceof ServiceError && error.details['reason'] !== undefined;
const notTranscribed = (why: string): string => `; it could not be transcribed: ${why}`;
const spokenLine = ({ what, seconds }: Pick<IncomingFile, 'what' | 'seconds'>, rest = ''): string =>
  channelLine(spokenHead(what), `${seconds === undefined ? '' : `, ${seconds} s`}${rest}`);
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
