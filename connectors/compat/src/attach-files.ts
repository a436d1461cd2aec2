import type { CoreApi, UploadsApi } from '@svc/connector-kit/connector.ts';
import type { PublicFetchOptions } from '@svc/connector-kit/fetch-public/fetch-public.ts';
import type { Attachment, Envelope } from '@svc/contract/envelope.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { refuse } from './completion-error.ts';
import type { FilePart } from './file-parts.ts';
import { pixelsOf } from './image-pixels.ts';
import { sniffAudio, sniffImage, type Sniffed } from './sniff-file.ts';

const maxBytes = 10 * 1024 * 1024;
const maxPixels = 100_000_000;
const fetchMs = 20_000;
/** Timeout for all files of a request together. */
const totalMs = 60_000;
/** Number of requests whose files are saved at a time: each holds one file in memory, besides its base64. */
const maxAtOnce = 4;
/** Number of requests that may wait for this, and their total size, in characters of base64. */
const maxWaiting = 64;
const maxHeldChars = 64 * 1024 * 1024;

export type FetchFile = (url: string, options: PublicFetchOptions) => Promise<Buffer>;
type Deps = { core: Pick<CoreApi, 'resolve'>; uploads: Pick<UploadsApi, 'save'>; fetchFile: FetchFile; signal: AbortSignal };

/** Saves the files of a request in the upload area, and returns the envelope with them. */
export type AttachFiles = (envelope: Envelope, files: readonly FilePart[]) => Promise<Envelope>;

export function createAttachFiles(deps: Deps): AttachFiles {
  const turns = createTurns();
  return async (envelope, files) => {
    const leave = await turns.take(charsOf(files));
    try {
      await checkAccess(deps, envelope);
      const attachments = await saveAll(deps, envelope.conversation_key, files);
      return { ...envelope, content: { ...envelope.content, attachments } };
    } finally {
      leave();
    }
  };
}

const charsOf = (files: readonly FilePart[]): number =>
  files.reduce((chars, { source }) => chars + ('base64' in source ? source.base64.length : 0), 0);

/** A queue of limited length and size. Each wait ends, because the running work has a timeout. */
function createTurns() {
  const waiting: (() => void)[] = [];
  let [running, held] = [0, 0];
  return {
    /** Resolves when it is the caller's turn, with the function that ends the turn. @throws ServiceError `queue_full` */
    async take(chars: number): Promise<() => void> {
      if (waiting.length >= maxWaiting || (held > 0 && held + chars > maxHeldChars))
        throw queueFull('Too many requests with files at once. Try again in a moment.');
      held += chars;
      if (running < maxAtOnce) running++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return () => {
        held -= chars;
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      };
    },
  };
}

/** Called before anything is fetched or stored, because neither is done for a stranger. */
async function checkAccess({ core }: Deps, { channel, sender, conversation_key }: Envelope): Promise<void> {
  const { denied } = await core.resolve({ channel, sender, public: false, conversation_key });
  if (denied) throw new ServiceError('no_access', 'no access');
}

/** One after the other, so that a request holds one file at a time. */
async function saveAll(deps: Deps, conversationKey: string, files: readonly FilePart[]): Promise<Attachment[]> {
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(totalMs)]);
  const attachments: Attachment[] = [];
  for (const file of files) {
    const data = await bytesOf(deps, file, signal);
    const { name, mime } = describe(file, data);
    const { path, bytes } = await deps.uploads.save({ name, mime, data, conversation_key: conversationKey });
    attachments.push({ path, name, mime, bytes });
  }
  return attachments;
}

async function bytesOf({ fetchFile }: Deps, { source, at }: FilePart, signal: AbortSignal): Promise<Buffer> {
  if ('base64' in source) return decode(source.base64, at);
  try {
    return await fetchFile(source.url, { maxBytes, timeoutMs: fetchMs, signal });
  } catch (error) {
    if (error instanceof ServiceError) throw refuse(at, error.message, 'invalid_image_url');
    throw error;
  }
}

/** Node ignores characters that are not base64, so invalid ones show in the length. */
function decode(text: string, at: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  const isWhole = bytes.length > 0 && bytes.length === Math.floor(((text.length - padding) * 3) / 4);
  if (!isWhole) throw refuse(at, `'${at}' is not valid base64.`, 'invalid_base64');
  if (bytes.length > maxBytes) throw refuse(at, `'${at}' is larger than ${maxBytes / 1024 / 1024} MiB.`, 'too_large');
  return bytes;
}

/** The name and media type to store, which depend on the content. */
function describe({ kind, name, filename, mime, at }: FilePart, data: Buffer): { name: string; mime?: string } {
  if (kind === 'file') return { name: filename ?? name, ...(mime === null ? {} : { mime }) };
  const { mime: found, extension } = sniffed(kind, data, at);
  if ((pixelsOf(data, found) ?? 0) > maxPixels) throw refuse(at, `'${at}' has more than 100 million pixels.`, 'image_too_large');
  return { name: `${name}.${extension}`, mime: found };
}

function sniffed(kind: 'image' | 'audio', data: Buffer, at: string): Sniffed {
  const found = kind === 'image' ? sniffImage(data) : sniffAudio(data);
  if (found !== null) return found;
  if (kind === 'image') throw refuse(at, `'${at}' is not an image of the type PNG, JPEG, GIF or WebP.`, 'invalid_image_format');
  throw refuse(at, `'${at}' is not a clip of the type wav or mp3.`, 'invalid_value');
}
