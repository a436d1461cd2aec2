import { constants } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { fileDigest } from '../../file-digest.ts';
import { chooseConnection, type Exchange } from '../exchange.ts';
import type { Route } from '../route-table.ts';
import { encodingFor, hasVersion, rangeOf, type Encoding, type Range } from './conditions.ts';
import { contentTypeOf } from './content-types.ts';
import { listFiles, type StaticFile } from './list-files.ts';

export type StaticOptions = {
  /** Path prefix under which the folder is served. Default: `/`. */
  prefix?: `/${string}`;
  /** Files whose content never changes, such as those that bundlers name by their hash. */
  immutable?: RegExp;
  /** Headers sent with every file, such as a content security policy. */
  headers?: Record<string, string>;
};

type Version = { key: string; etag: string };
type Serving = {
  root: string;
  files: Map<string, StaticFile>;
  versions: Map<string, Version>;
  options: StaticOptions;
  open: number;
};

const hashedAssets = /^assets\/(?:.*\/)?[^/]*[.-][\w-]{8,}\.\w+$/;
const maxOpen = 128;
const stalledMs = 30_000;
const endings: Record<Encoding, string> = { br: '.br', gzip: '.gz' };

/**
 * Serves the files of a folder. The folder is listed once, and only listed files are served, so no URL leads to a link, to a hidden file or
 * out of the folder. `index.html` is served for its folder. Each version has an `ETag` derived from its content. Files with hashed names in
 * `assets/` are cached for a year; all others are revalidated each time. Rejects when the folder cannot be listed.
 */
export async function createStaticRoutes(dir: string, options: StaticOptions = {}): Promise<Route[]> {
  const root = await realpath(dir);
  const serving: Serving = { root, files: await listFiles(root), versions: new Map(), options, open: 0 };
  const prefix = (options.prefix ?? '/').replace(/\/*$/, '/');
  const handle = (exchange: Exchange) => serve(serving, exchange);
  return [{ method: 'GET', path: `${prefix}*`, doc: { summary: 'Files of the web app' }, handle }];
}

async function serve(serving: Serving, exchange: Exchange): Promise<void> {
  const asked = exchange.params['*'] ?? '';
  const name = asked === '' || asked.endsWith('/') ? `${asked}index.html` : asked;
  const file = serving.files.get(name);
  if (file === undefined) throw notFound();
  if (serving.open >= maxOpen) throw queueFull('Too many files are being read at once. Try again in a moment.');
  const { range, 'accept-encoding': accepted } = exchange.req.headers;
  const encoding = range === undefined ? encodingFor(accepted, file.encodings) : null;
  serving.open++;
  try {
    await send(serving, exchange, { name, file, encoding });
  } finally {
    serving.open--;
  }
}

type Wanted = { name: string; file: StaticFile; encoding: Encoding | null };

async function send(serving: Serving, exchange: Exchange, wanted: Wanted): Promise<void> {
  const { req, res } = exchange;
  const handle = await openInside(wanted.file.path + (wanted.encoding === null ? '' : endings[wanted.encoding]));
  try {
    const { etag, size } = await versionOf(serving, handle, wanted);
    const headers = headersOf(serving, exchange, wanted, etag);
    const range = partOf(req.headers, etag, size);
    if (hasVersion(req.headers['if-none-match'], etag)) return answer(exchange, 304, headers);
    if (range === 'none') return answer(exchange, 416, { ...headers, 'content-range': `bytes */${size}`, 'content-length': 0 });
    const { start, end } = range ?? { start: 0, end: size - 1 };
    const isPart = range !== null && { 'content-range': `bytes ${start}-${end}/${size}` };
    const head = { ...headers, ...isPart, 'content-length': end - start + 1 };
    if (req.method === 'HEAD' || size === 0) return answer(exchange, range === null ? 200 : 206, head);
    chooseConnection(exchange);
    res.writeHead(range === null ? 200 : 206, head);
    await stream(handle, exchange, { start, end });
  } finally {
    await handle.close();
  }
}

/** Opens a regular file at its listed path; refuses a link that has replaced it or one of its folders. */
async function openInside(file: string): Promise<FileHandle> {
  try {
    if ((await realpath(file)) !== file) throw notFound();
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') throw error;
    throw notFound();
  }
}

/** Computes the digest again when the file looks changed. The modification time alone is not enough, because packages keep old times. */
async function versionOf(
  { versions }: Serving,
  handle: FileHandle,
  { name, encoding }: Wanted,
): Promise<{ etag: string; size: number }> {
  const stat = await handle.stat({ bigint: true });
  if (!stat.isFile()) throw notFound();
  const key = `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  const place = `${encoding ?? ''} ${name}`;
  const known = versions.get(place);
  const digest = async () => (await fileDigest(handle, Number(stat.size), 'base64url')).slice(0, 27);
  const etag = known?.key === key ? known.etag : `"${await digest()}${encoding === null ? '' : `-${encoding}`}"`;
  versions.set(place, { key, etag });
  return { etag, size: Number(stat.size) };
}

function headersOf({ options }: Serving, { requestId }: Exchange, { name, file, encoding }: Wanted, etag: string) {
  const isImmutable = (options.immutable ?? hashedAssets).test(name);
  return {
    'content-type': contentTypeOf(name),
    'x-content-type-options': 'nosniff',
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'accept-ranges': 'bytes',
    etag,
    'x-request-id': requestId,
    ...(encoding !== null && { 'content-encoding': encoding }),
    ...(file.encodings.length > 0 && { vary: 'accept-encoding' }),
    ...options.headers,
  };
}

/** Serves a part only of the version that the reader began with, or of any version when the reader names none. */
function partOf(headers: Exchange['req']['headers'], etag: string, size: number): Range | null | 'none' {
  const condition = headers['if-range'];
  return condition === undefined || condition === etag ? rangeOf(headers.range, size) : null;
}

function answer(exchange: Exchange, status: number, headers: Record<string, string | number>): void {
  chooseConnection(exchange);
  exchange.res.writeHead(status, headers).end();
}

/** If the file has become shorter in the meantime, the connection is broken, so that nobody takes a part for the whole. */
async function stream(handle: FileHandle, { res }: Exchange, { start, end }: Range): Promise<void> {
  res.setTimeout(stalledMs, () => res.destroy());
  res.strictContentLength = true;
  try {
    await pipeline(handle.createReadStream({ start, end, autoClose: false }), res);
  } catch (error) {
    const hasLeft = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) throw error;
  }
}

const notFound = () => new ServiceError('not_found', 'There is no such file.');
