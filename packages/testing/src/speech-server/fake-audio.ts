import { canSay, hearTones, sayTones } from './tone-speech.ts';

const marker = Buffer.from('\0said:');

/** First bytes of each format, as real files have them. `pcm` has none. */
const heads: Record<string, Buffer> = {
  mp3: Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'),
  opus: Buffer.from('OggS\0\x02', 'latin1'),
  aac: Buffer.from([0xff, 0xf1, 0x50, 0x80]),
  flac: Buffer.from('fLaC', 'latin1'),
  wav: Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1'),
  pcm: Buffer.alloc(0),
};

/**
 * Bytes with the header of the format and the text inside, so that a clip can be read back. Raw samples contain the text as tones,
 * where its words have tones.
 */
export const fakeAudio = (format: string, text: string): Buffer =>
  format === 'pcm' && canSay(text) ? sayTones(text, 24_000) : markedAudio(format, text);

const markedAudio = (format: string, text: string): Buffer =>
  Buffer.concat([heads[format] ?? Buffer.alloc(0), Buffer.alloc(2000, 0x55), marker, Buffer.from(text)]);

/** The text of a clip of `fakeAudio`; a fixed text for any other bytes. */
export function heardIn(clip: Buffer): string {
  const at = clip.lastIndexOf(marker);
  return at === -1 ? hearWav(clip) || 'no words' : clip.toString('utf8', at + marker.length);
}

/** The words that have tones. */
const hearWav = (clip: Buffer): string =>
  clip.toString('latin1', 0, 4) === 'RIFF' && clip.length > 44 ? hearTones(clip.subarray(44), clip.readUInt32LE(24)) : '';
