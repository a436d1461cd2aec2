import type { AudioType } from './audio-type.ts';

/**
 * The duration of a clip, estimated from its size and the usual bit rate of its encoding, or the rate in the header of a wave file. Rounded
 * up to a tenth of a second.
 */
export function audioSeconds(clip: Buffer, type: AudioType): number {
  const seconds = (type.name === 'wav' ? waveSeconds(clip) : null) ?? (clip.length * 8) / type.bitsPerSecond;
  return Math.ceil(seconds * 10) / 10;
}

/** Null for an invalid header. */
function waveSeconds(clip: Buffer): number | null {
  if (clip.length < 12 || clip.toString('latin1', 0, 4) !== 'RIFF') return null;
  let rate = 0;
  let at = 12;
  while (at + 8 <= clip.length) {
    const name = clip.toString('latin1', at, at + 4);
    const length = clip.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 20 <= clip.length) rate = clip.readUInt32LE(at + 16);
    // A streamed file claims to be endless, so the bytes that are there count.
    if (name === 'data') return rate === 0 ? null : Math.min(length, clip.length - at - 8) / rate;
    at += 8 + length + (length % 2);
  }
  return null;
}
