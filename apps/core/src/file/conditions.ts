import parseRanges from 'range-parser';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';

type Headers = IncomingMessage['headers'];

/** The validators of a stored file. The tag is a strong one, because a stored file never changes. */
export type Validators = { etag: string; lastModified: string };

export function validatorsOf({ size, mtimeNs }: { size: bigint; mtimeNs: bigint }): Validators {
  return {
    etag: `"${size.toString(16)}-${mtimeNs.toString(16)}"`,
    lastModified: new Date(Number(mtimeNs / 1_000_000n)).toUTCString(),
  };
}

/**
 * Evaluates the conditions of a GET or HEAD in the order of RFC 9110, 13.2.2: an entity tag takes precedence over a date. Null when the
 * file is to be sent.
 */
export function checkConditions(headers: Headers, { etag, lastModified }: Validators): 'failed' | 'not_modified' | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match !== undefined) {
    if (match !== '*' && !tagsOf(match).includes(etag)) return 'failed';
  } else if (isAfter(lastModified, headers['if-unmodified-since'])) return 'failed';

  if (noneMatch !== undefined) return noneMatch === '*' || tagsOf(noneMatch).map(plain).includes(etag) ? 'not_modified' : null;
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return Date.parse(lastModified) <= since ? 'not_modified' : null;
}

/** First and last byte, inclusive. */
export type Range = { start: number; end: number };

/**
 * The range that a GET asks for; `none` when the file has no such bytes, null when all of it is to be sent. Adjacent ranges are merged. For
 * several separate ranges the whole file is sent, which RFC 9110, 14.2 permits: multipart answers are used by range attacks, and none of
 * our clients reads them.
 */
export function rangeOf(headers: Headers, size: number, validators: Validators): Range | 'none' | null {
  if (headers.range === undefined || !isFresh(headers['if-range'], validators)) return null;
  const ranges = parseRanges(size, withShortSuffixes(headers.range, size), { combine: true });
  if (ranges === -1) return 'none';
  const [first, ...others] = ranges === -2 || ranges.type.toLowerCase() !== 'bytes' ? [] : ranges;
  return first === undefined || others.length > 0 ? null : { start: first.start, end: first.end };
}

/** The last 20 bytes of a 10-byte file are the whole file; the parser would reject that range. */
const withShortSuffixes = (header: string, size: number) =>
  header.replace(/(?<=[=,]\s*)-(\d+)/g, (_, bytes: string) => `-${Math.min(Number(bytes), size)}`);

/** A range continues only the very same file: neither a weak tag nor a different date is enough. */
const isFresh = (ifRange: string | string[] | undefined, { etag, lastModified }: Validators): boolean =>
  ifRange === undefined || ifRange === etag || ifRange === lastModified;

const tagsOf = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? [];
const plain = (tag: string): string => tag.replace(/^W\//, '');

const isAfter = (lastModified: string, header: string | undefined): boolean =>
  Date.parse(lastModified) > Date.parse(header ?? '');
