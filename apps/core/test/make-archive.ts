import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export type TarEntry = { name: string; content?: Buffer; type?: string; linkname?: string; size?: number; pax?: string };

const block = 512;
const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((block - (bytes.length % block)) % block)]);

/** A tar header of any kind, also of those that no packer would write. */
function header(name: string, size: number, type: string, linkname: string): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  bytes.write(name.slice(0, 100), 0);
  bytes.write(octal(0o600, 7), 100);
  bytes.write(octal(0, 7), 108);
  bytes.write(octal(0, 7), 116);
  sizeField(size).copy(bytes, 124);
  bytes.write(octal(0, 11), 136);
  bytes.write('        ', 148);
  bytes.write(type, 156);
  bytes.write(linkname, 157);
  bytes.write('ustar\x0000', 257);
  bytes.write(
    `${octal(
      bytes.reduce((sum, byte) => sum + byte, 0),
      6,
    )} `,
    148,
  );
  return bytes;
}

/** In octal up to 8 GiB; above that, and below nothing, in binary. */
function sizeField(size: number): Buffer {
  if (size >= 0 && size < 8 ** 11) return Buffer.from(`${size.toString(8).padStart(11, '0')}\0`);
  const field = Buffer.alloc(12, size < 0 ? 0xff : 0);
  field.writeBigInt64BE(BigInt(size), 4);
  field[0] = size < 0 ? 0xff : 0x80;
  return field;
}

/** `length key=value\n`, where the length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  length += String(length + String(length).length).length;
  return Buffer.from(`${length}${rest}`);
}

function entryBytes({ name, content = Buffer.of(), type = '0', linkname = '', size = content.length, pax }: TarEntry): Buffer {
  const path = pax === undefined ? Buffer.of() : paxRecord('path', pax);
  const extended = pax === undefined ? [] : [header('PaxHeader', path.length, 'x', ''), padded(path)];
  return Buffer.concat([...extended, header(name, size, type, linkname), padded(content)]);
}

export const tar = (entries: readonly TarEntry[]): Buffer => Buffer.concat([...entries.map(entryBytes), Buffer.alloc(2 * block)]);
export const tarGz = (entries: readonly TarEntry[]): Buffer => gzipSync(tar(entries));

/** The entry `backup.json` that fits others; `over` changes what it says. */
export function contentsFor(entries: readonly TarEntry[], over: object = {}): TarEntry {
  const files = entries.map(({ name, content = Buffer.of(), pax }) => ({
    path: pax ?? name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  const contents = { format: 1, version: '0.0.1', created_at: 1, schemas: { core: '001-init.sql' }, files, ...over };
  return { name: 'backup.json', content: Buffer.from(JSON.stringify(contents)) };
}
