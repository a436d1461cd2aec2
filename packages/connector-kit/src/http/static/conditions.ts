export type Range = { start: number; end: number };

/** Whether the reader already has this version. A weak tag counts too, because whole bodies are compared. */
export function hasVersion(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',', maxParts).map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/**
 * The requested part of a file; `null` for all of it, `'none'` when the file has no such part. Several parts and an invalid range get the
 * whole file, as HTTP allows.
 */
export function rangeOf(header: string | undefined, size: number): Range | null | 'none' {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null || match[0] === 'bytes=-') return null;
  const [, first = '', last = ''] = match;
  if (first === '') return lastBytes(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return null;
  return start < size ? { start, end } : 'none';
}

const lastBytes = (length: number, size: number): Range | 'none' =>
  length === 0 || size === 0 ? 'none' : { start: Math.max(0, size - length), end: size - 1 };

export type Encoding = 'br' | 'gzip';

/** The smallest available encoding that the reader accepts. */
export function encodingFor(acceptEncoding: string | undefined, available: readonly Encoding[]): Encoding | null {
  if (available.length === 0 || acceptEncoding === undefined) return null;
  const weights = new Map(acceptEncoding.toLowerCase().split(',', maxParts).map(weightOf));
  const takes = (name: string) => (weights.get(name) ?? weights.get('*') ?? 0) > 0;
  return available.find(takes) ?? null;
}

const maxParts = 50;

function weightOf(part: string): [string, number] {
  const [name = '', ...parameters] = part.split(';').map((word) => word.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return [name, weight === undefined ? 1 : Number(weight.slice(2))];
}
