/** The type of a file by its first bytes, whatever type it claims. */
export type Sniffed = { mime: string; extension: string };

const at = (bytes: Buffer, offset: number, text: string) => bytes.toString('latin1', offset, offset + text.length) === text;

/** An image that engines can read. Null for anything else, including SVG, which can contain scripts. */
export function sniffImage(bytes: Buffer): Sniffed | null {
  if (at(bytes, 0, '\x89PNG\r\n\x1a\n')) return { mime: 'image/png', extension: 'png' };
  if (at(bytes, 0, '\xff\xd8\xff')) return { mime: 'image/jpeg', extension: 'jpg' };
  if (at(bytes, 0, 'GIF87a') || at(bytes, 0, 'GIF89a')) return { mime: 'image/gif', extension: 'gif' };
  if (at(bytes, 0, 'RIFF') && at(bytes, 8, 'WEBP')) return { mime: 'image/webp', extension: 'webp' };
  return null;
}

/** An audio clip in one of the protocol's two formats. */
export function sniffAudio(bytes: Buffer): Sniffed | null {
  if (at(bytes, 0, 'RIFF') && at(bytes, 8, 'WAVE')) return { mime: 'audio/wav', extension: 'wav' };
  const isFrame = bytes.length > 1 && bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe6) === 0xe2;
  return at(bytes, 0, 'ID3') || isFrame ? { mime: 'audio/mpeg', extension: 'mp3' } : null;
}
