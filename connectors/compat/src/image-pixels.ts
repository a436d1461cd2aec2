/**
 * The number of pixels that an image's header declares; null if that cannot be read. A small file may declare any number, and rendering it
 * takes memory for all of them.
 */
export function pixelsOf(bytes: Buffer, mime: string): number | null {
  const read = readers[mime];
  try {
    return read?.(bytes) ?? null;
  } catch {
    // The file ends before its size is known, so no program can render it.
    return null;
  }
}

const readers: Readonly<Record<string, (bytes: Buffer) => number | null>> = {
  'image/png': (bytes) => bytes.readUInt32BE(16) * bytes.readUInt32BE(20),
  'image/gif': (bytes) => bytes.readUInt16LE(6) * bytes.readUInt16LE(8),
  'image/webp': ofWebp,
  'image/jpeg': ofJpeg,
};

function ofWebp(bytes: Buffer): number | null {
  const form = bytes.toString('latin1', 12, 16);
  if (form === 'VP8X') return (bytes.readUIntLE(24, 3) + 1) * (bytes.readUIntLE(27, 3) + 1);
  if (form === 'VP8 ') return (bytes.readUInt16LE(26) & 0x3fff) * (bytes.readUInt16LE(28) & 0x3fff);
  if (form !== 'VP8L') return null;
  const bits = bytes.readUInt32LE(21);
  return ((bits & 0x3fff) + 1) * (((bits >>> 14) & 0x3fff) + 1);
}

/** An ordinary image has a few dozen segments. */
const maxSegments = 10_000;

function ofJpeg(bytes: Buffer): number | null {
  for (let [at, left] = [2, maxSegments]; left > 0; left--) {
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7);
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
