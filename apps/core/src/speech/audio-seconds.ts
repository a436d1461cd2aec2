import type { AudioType } from './audio-type.ts';

/**
 * How long a clip is, estimated from its size: bytes by the usual bit rate of its encoding, and by the rate that its
 * header names where it is a wave file. Rounded up to a tenth of a second.
 */
export function audioSeconds(clip: Buffer, type: AudioType): number {
  const seconds = (type.name === 'wav' ? waveSeconds(clip) : null) ?? (clip.length * 8) / type.bitsPerSecond;
  return Math.ceil(seconds * 10) / 10;
}

/** Null for a header that cannot be read. */
function waveSeconds(clip: Buffer): number | null {
  if (clip.length < 12 || clip.toString('latin1', 0, 4) !== 'RIFF') return null;
  let rate = 0;
  let at = 12;
  while (at + 8 <= clip.length) {
    const name = clip.toString('latin1', at, at + 4);
    const length = clip.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 20 <= clip.length) rate = clip.readUInt32LE(at + 16);
    // One that was written as it was made says it is endless, so what is there counts.
    if (name === 'data') return rate === 0 ? null : Math.min(length, clip.length - at - 8) / rate;
    at += 8 + length + (length % 2);
  }
  return null;
}
