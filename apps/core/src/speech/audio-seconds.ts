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
    if (name === 'fmt ' && at + 24 <= clip.length) rate = bytesPerSecond(clip, at + 8);
    // A streamed file claims to be endless or empty, so the bytes that are there count.
    if (name === 'data') return rate === 0 ? null : Math.min(length || Infinity, clip.length - at - 8) / rate;
    at += 8 + length + (length % 2);
  }
  return null;
}

/** PCM, floating point, and the extended header of both. */
const plainFormats = [1, 3, 0xfffe];

/** Programs that play plain samples do not use the rate in bytes that the header names, so for those it may be anything. */
function bytesPerSecond(clip: Buffer, at: number): number {
  if (!plainFormats.includes(clip.readUInt16LE(at))) return clip.readUInt32LE(at + 8);
  const [channels, samples, bits] = [clip.readUInt16LE(at + 2), clip.readUInt32LE(at + 4), clip.readUInt16LE(at + 14)];
  return (samples * channels * bits) / 8;
}
