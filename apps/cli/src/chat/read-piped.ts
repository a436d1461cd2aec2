import { isUtf8 } from 'node:buffer';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { inTime } from '@svc/service-kit/within.ts';
import { inUnits } from '@svc/service-kit/words.ts';
import { CliError } from '../cli-error.ts';

/** Piped input: text that becomes part of the message, or a file that stays in `folder` until that is removed. */
export type Piped = { kind: 'text'; text: string } | { kind: 'file'; file: string; mime: string; remove: () => void };

/** Longer input is sent as a file. */
export const mostInlineBytes = 100_000;
export const mostPipedBytes = 256 * 1024 * 1024;

type Options = {
  folder: string;
  most?: number;
  inline?: number;
  /** Called when nothing has arrived for a while. */
  slow?: () => void;
  /** Input that begins after this is not waited for. */
  patienceMs?: number;
};

/** After this long without a byte a person wonders what the program waits for. */
const slowMs = 3000;

/** Reads a pipe to its end. `folder` keeps long or binary input until it is sent. Null when the pipe was empty. @throws CliError */
export async function readPiped(input: AsyncIterable<Buffer>, options: Options): Promise<Piped | null> {
  const { folder, most = mostPipedBytes, inline = mostInlineBytes, slow, patienceMs } = options;
  const head: Buffer[] = [];
  let bytes = 0;
  const timer = slow === undefined ? undefined : setTimeout(slow, slowMs);
  const parts = bounded(input, most)[Symbol.asyncIterator]();
  for (let part = await firstOf(parts, patienceMs); ; part = await parts.next()) {
    clearTimeout(timer);
    if (part.done === true) break;
    head.push(part.value);
    bytes += part.value.length;
    if (bytes > inline) break;
  }
  const begin = Buffer.concat(head);
  if (bytes === 0) return null;
  if (bytes <= inline && isText(begin)) return { kind: 'text', text: begin.toString('utf8') };
  return spool(begin, { [Symbol.asyncIterator]: () => parts }, folder);
}

const nothing: IteratorResult<Buffer> = { done: true, value: undefined };

/** The first chunk, or the end when nothing arrives in time. */
const firstOf = (parts: AsyncIterator<Buffer>, ms: number | undefined): Promise<IteratorResult<Buffer>> =>
  ms === undefined ? parts.next() : inTime(parts.next(), ms, () => nothing);

async function* bounded(input: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of input) {
    bytes += part.length;
    if (bytes > most) {
      throw new CliError(`the piped input is larger than ${inUnits(most)}.`, {
        why: 'Pass a larger file by its path.',
        run: './svc chat --file FILE "TEXT"',
      });
    }
    yield part;
  }
}

async function spool(begin: Buffer, rest: AsyncIterable<Buffer>, folder: string): Promise<Piped> {
  const own = mkdtempSync(path.join(folder, 'chat-'));
  const remove = () => rmSync(own, { recursive: true, force: true });
  const { ending, mime } = typeOf(begin);
  const file = path.join(own, `stdin.${ending}`);
  try {
    await pipeline(
      async function* parts() {
        yield begin;
        yield* rest;
      },
      createWriteStream(file, { mode: 0o600 }),
    );
  } catch (error) {
    remove();
    throw error;
  }
  return { kind: 'file', file, mime, remove };
}

/** A UTF-8 character has at most four bytes, so up to three may be cut off at the end. */
const cutBytes = 3;

/** True for UTF-8 without NUL bytes; an incomplete character at the end is allowed. */
function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false;
  return Array.from({ length: cutBytes + 1 }, (_, cut) => cut).some((cut) => isUtf8(bytes.subarray(0, bytes.length - cut)));
}

const signatures: readonly { begin: string; ending: string; mime: string }[] = [
  { begin: '\u0089PNG', ending: 'png', mime: 'image/png' },
  { begin: '\u00FF\u00D8\u00FF', ending: 'jpg', mime: 'image/jpeg' },
  { begin: 'GIF8', ending: 'gif', mime: 'image/gif' },
  { begin: '%PDF-', ending: 'pdf', mime: 'application/pdf' },
  { begin: 'PK\u0003\u0004', ending: 'zip', mime: 'application/zip' },
  { begin: '\u001F\u008B', ending: 'gz', mime: 'application/gzip' },
];

/** The file type by the first bytes; receivers know a file by its name. */
function typeOf(begin: Buffer): { ending: string; mime: string } {
  const known = signatures.find((signature) => begin.subarray(0, signature.begin.length).toString('latin1') === signature.begin);
  if (known !== undefined) return known;
  return isText(begin) ? { ending: 'txt', mime: 'text/plain' } : { ending: 'bin', mime: 'application/octet-stream' };
}
