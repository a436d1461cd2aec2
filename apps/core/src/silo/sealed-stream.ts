import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const magic = Buffer.from('SVCSILO1');
const saltBytes = 32;
const tagBytes = 16;
const partBytes = 64 * 1024;
const options = { authTagLength: tagBytes } as const;

/** The silo and path of a file: it can be opened only under these. */
export type Place = { silo: string; path: string };

/** The file was changed, truncated, or moved from another place. */
export class ChangedError extends Error {
  override readonly name = 'ChangedError';
}

/**
 * Seals a stream in parts, each with its number and whether it is the last, under the file's own key: parts can be neither swapped nor
 * omitted, and none is output before it is verified.
 */
export async function* seal(plain: AsyncIterable<Buffer>, key: Buffer, place: Place): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes);
  const own = keyOf(key, salt, place);
  yield Buffer.concat([magic, salt]);
  let part = 0;
  for await (const { bytes, isLast } of inParts(plain, partBytes)) {
    const cipher = createCipheriv(algorithm, own, nonceOf(part++, isLast), options);
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/** @throws ChangedError as soon as a part differs from what was sealed. */
export async function* open(sealed: AsyncIterable<Buffer>, key: Buffer, place: Place): AsyncGenerator<Buffer> {
  let own: Buffer | null = null;
  let part = 0;
  for await (const { bytes, isLast } of inParts(
    withHead(sealed, (salt) => (own = keyOf(key, salt, place))),
    partBytes + tagBytes,
  )) {
    if (own === null || bytes.length < tagBytes) throw new ChangedError('A file of a silo is incomplete.');
    const decipher = createDecipheriv(algorithm, own, nonceOf(part++, isLast), options);
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const plain = decipher.update(bytes.subarray(0, -tagBytes));
    try {
      decipher.final();
    } catch (cause) {
      throw new ChangedError('A file of a silo was changed on the disk, or its key is wrong.', { cause });
    }
    if (plain.length > 0) yield plain;
  }
}

const keyOf = (key: Buffer, salt: Buffer, { silo, path }: Place): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, JSON.stringify(['svc-silo/1', silo, path]), 32));

function nonceOf(part: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(part, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Reads the header and passes on what follows. */
async function* withHead(sealed: AsyncIterable<Buffer>, onSalt: (salt: Buffer) => void): AsyncGenerator<Buffer> {
  const headBytes = magic.length + saltBytes;
  let head: Buffer | null = Buffer.alloc(0);
  for await (const bytes of sealed) {
    if (head === null) {
      yield bytes;
      continue;
    }
    head = Buffer.concat([head, bytes]);
    if (head.length < headBytes) continue;
    if (!head.subarray(0, magic.length).equals(magic))
      throw new ChangedError('A file of a silo is not encrypted, though it should be.');
    onSalt(head.subarray(magic.length, headBytes));
    yield head.subarray(headBytes);
    head = null;
  }
  if (head !== null) throw new ChangedError('A file of a silo is incomplete.');
}

/** Parts of equal size except the last, which is sent even when it is empty. */
async function* inParts(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let held = Buffer.alloc(0);
  for await (const bytes of source) {
    held = held.length === 0 ? Buffer.from(bytes) : Buffer.concat([held, bytes]);
    for (; held.length > size; held = held.subarray(size)) yield { bytes: held.subarray(0, size), isLast: false };
  }
  yield { bytes: held, isLast: true };
}
