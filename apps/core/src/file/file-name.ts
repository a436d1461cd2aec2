import path from 'node:path';
import type { FileKind } from '@svc/contract/upload.ts';

/** Leaves room for an id as a prefix and for a suffix within a file system's 255 bytes. */
const maxBytes = 150;

/**
 * Makes a sender's file name safe for a path, a shell listing and a header: the last part of its path, without control characters, marks
 * that change the text direction, or names with a special meaning.
 */
export function safeFileName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .normalize('NFC')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[.\s-]+/, '')
    .replace(/(?<![.\s])[.\s]+$/, '');
  return shortened(plain) || 'file';
}

/** Shortens the stem, so that the extension stays. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const ending = path.extname(name).slice(0, 20);
  let stem = name.slice(0, maxBytes);
  while (Buffer.byteLength(stem + ending) > maxBytes) stem = Array.from(stem).slice(0, -1).join('');
  return stem + ending;
}

const unknownMime = 'application/octet-stream';

/** `type/subtype` in lower case without parameters; null for a type that says nothing about a file. */
export function plainMime(mime: string | undefined): string | null {
  const type = (mime ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === unknownMime || type === 'application/x-www-form-urlencoded') return null;
  return /^[a-z0-9!#$&^_.+-]{1,63}\/[a-z0-9!#$&^_.+-]{1,63}$/.test(type) ? type : null;
}

/** The MIME type by the file extension. The table is loaded on first use. */
export async function mimeOfName(name: string): Promise<string> {
  const { default: mime } = await import('mime');
  return mime.getType(name) ?? unknownMime;
}

const documents = /pdf|msword|officedocument|opendocument|rtf|epub/;
const archives = /zip|tar|gzip|bzip|7z|rar|xz|zstd/;
const texts = /json|xml|javascript|yaml|toml|x-sh|csv/;

export function kindOfMime(mime: string): FileKind {
  const [main] = mime.split('/');
  if (main === 'image' || main === 'audio' || main === 'video' || main === 'text') return main;
  if (documents.test(mime)) return 'document';
  if (archives.test(mime)) return 'archive';
  return texts.test(mime) ? 'text' : 'other';
}

const maxPathBytes = 1024;
const maxPartBytes = 255;
const maxDepth = 16;

/** Whether a path is relative, with `/` as its separator and no part such as `..`. */
export function isPlainPath(name: string): boolean {
  if (name === '' || Buffer.byteLength(name) > maxPathBytes || !name.isWellFormed() || /[\\\p{Cc}]/u.test(name)) return false;
  const parts = name.split('/');
  return parts.length <= maxDepth && parts.every(isPlainPart);
}

const isPlainPart = (part: string): boolean =>
  part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= maxPartBytes;
