import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeSpace } from '@svc/service-kit/free-space.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

/** Silence after which the connection counts as lost. */
const idleMs = 60_000;
const maxText = 4 * 2 ** 20;
const maxTextMs = 5 * 60_000;
const maxArchive = 2 * 2 ** 30;
/** Attempts in a row without new data. */
const tries = 4;
const pauseMs = 500;

/** A small file as text. @throws Error with the server's answer */
export async function getText(url: string): Promise<string> {
  try {
    return await readText(url);
  } catch (error) {
    throw new Error(`${url} cannot be read: ${errorText(error)}`, { cause: error });
  }
}

async function readText(url: string): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  const until = performance.now() + maxTextMs;
  for await (const chunk of await request(url, 0)) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxText) throw new Error('it is too large');
    // A server that sends byte by byte is never silent for long.
    if (performance.now() > until) throw new Error(`it took more than ${maxTextMs / 60_000} min`);
  }
  return text + decoder.decode();
}

/** A published file has a wrong signature or content: a retry does not help until it changes. */
export class NotInOrder extends Error {
  override readonly name = 'NotInOrder';
}

/** The metadata of a file, without its content. `mark` differs when the file differs; null when the server gives none. */
export type Described = { mark: string | null; bytes: number | null };

/** Never rejects: the download that follows reports the error. */
export async function describeFile(url: string): Promise<Described> {
  try {
    const response = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(idleMs) });
    if (!response.ok) return { mark: null, bytes: null };
    const headers = ['etag', 'last-modified', 'content-length'].map((name) => response.headers.get(name));
    const length = headers.at(-1) ?? null;
    return { mark: JSON.stringify(headers), bytes: length === null ? null : Number(length) };
  } catch {
    return { mark: null, bytes: null };
  }
}

/** Avoids filling a disk that is too small again and again. @throws Error */
export async function checkRoomFor(file: string, { bytes }: Described): Promise<void> {
  const folder = path.dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [free, needed] = [await freeSpace(folder), (bytes ?? 0) - sizeOf(`${file}.part`)];
  if (free < needed)
    throw new Error(
      `There is no space left for it on the disk of ${folder}: it takes ${inMb(needed)} MB more, and ${inMb(free)} MB are free.`,
    );
}

const inMb = (bytes: number): number => Math.round(bytes / 2 ** 20);

/**
 * Downloads a file with a known digest. Resumes after a broken connection, also that of an earlier call; `file` appears only when complete.
 * @throws Error with the reason; NotInOrder when the complete file does not match
 */
export async function download(url: string, file: string, digest: string): Promise<void> {
  if ((await digestOfFile(file)) === digest) return;
  const part = `${file}.part`;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const goesOn = sizeOf(part) > 0;
  await bring(url, part);
  if ((await digestOfFile(part)) === digest) return renameSync(part, file);
  rmSync(part, { force: true });
  if (!goesOn) throw new NotInOrder(`${url} is not what the checksums say.`);
  // The part from an earlier call may be damaged, for instance by a power failure.
  await download(url, file, digest);
}

async function bring(url: string, part: string): Promise<void> {
  for (let left = tries; ;) {
    const before = sizeOf(part);
    try {
      return await goOn(url, part, before);
    } catch (error) {
      const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
      // The service may use the same disk.
      if (isFull) rmSync(part, { force: true });
      left = sizeOf(part) > before ? tries : left - 1;
      if (left === 0 || isFull || error instanceof Refused)
        throw new Error(`${url} cannot be downloaded: ${errorText(error)}`, { cause: error });
      await sleep(pauseMs);
    }
  }
}

/** Checks the whole file, whatever its read position. */
export async function digestOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(file.createReadStream({ start: 0, autoClose: false }), hash);
  return hash.digest('hex');
}

/** Null when there is none. */
async function digestOfFile(name: string): Promise<string | null> {
  if (!existsSync(name)) return null;
  await using file = await open(name, 'r');
  return await digestOf(file);
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The server refuses: a retry does not help. */
class Refused extends Error {}

async function goOn(url: string, part: string, from: number): Promise<void> {
  let size = from;
  let body: AsyncIterable<Uint8Array>;
  try {
    body = await request(url, from);
  } catch (error) {
    if (error instanceof Whole) return;
    if (!(error instanceof NoRange)) throw error;
    [body, size] = [error.body, 0];
  }
  const limited = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxArchive) throw new Refused('it is too large');
      yield chunk;
    }
  };
  await pipeline(limited, createWriteStream(part, { flags: size === 0 ? 'w' : 'a', mode: 0o600 }));
}

/** The server has no data after this offset. */
class Whole extends Error {}

/** The server sends the whole file again. */
class NoRange extends Error {
  readonly body: AsyncIterable<Uint8Array>;

  constructor(body: AsyncIterable<Uint8Array>) {
    super();
    this.body = body;
  }
}

/** The response body, from a byte offset on. */
async function request(url: string, from: number): Promise<AsyncIterable<Uint8Array>> {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Error(`nothing came for ${idleMs / 1000} s`)), idleMs);
  const headers: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-` };
  try {
    const response = await fetch(url, { signal: idle.signal, headers: { 'accept-encoding': 'identity', ...headers } });
    if (!response.ok) await response.body?.cancel();
    if (response.status === 416 && from > 0) throw new Whole();
    if (response.status >= 400 && response.status < 500) throw new Refused(`it answers ${response.status}`);
    if (!response.ok || response.body === null) throw new Error(`it answers ${response.status}`);
    const body = watched(response.body, timer);
    if (from > 0 && response.status !== 206) throw new NoRange(body);
    return body;
  } catch (error) {
    if (!(error instanceof NoRange)) clearTimeout(timer);
    throw error;
  }
}

async function* watched(body: AsyncIterable<Uint8Array>, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      timer.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}
