import { gzipSync } from 'node:zlib';

/** A file of a package: its text, and whether it can be started. */
export type PackedFile = { text: string; isProgram?: boolean };

const blockSize = 512;

/** A package as a registry serves it: a gzipped tar with every file under `package/`. */
export function makeTarball(files: Readonly<Record<string, PackedFile>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, { text, isProgram = false }]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize);
    return [header(`package/${name}`, content.length, isProgram ? 0o755 : 0o644), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]));
}

function header(name: string, size: number, mode: number): Buffer {
  const block = Buffer.alloc(blockSize);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  block.write(name, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  // The checksum is made with blanks in its own place.
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}
