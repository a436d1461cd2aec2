import type OpusScript from 'opusscript';
import { bytesOf, createFramer, frameMs, heardFormat, playedFormat } from './sound.ts';

/** Encodes sound as packets for the platform, 20 ms each. The last one is padded with silence. */
export async function* encodeOpus(
  Opus: typeof OpusScript,
  sound: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const { rate, channels } = playedFormat;
  const encoder = new Opus(rate, channels, Opus.Application.VOIP);
  const samples = (rate / 1000) * frameMs;
  const framer = createFramer(bytesOf(playedFormat, frameMs));
  try {
    for await (const part of sound) for (const frame of framer.push(part)) yield encoder.encode(frame, samples);
    const last = framer.end();
    if (last !== null) yield encoder.encode(last, samples);
  } finally {
    encoder.delete();
  }
}

export type OpusDecoder = {
  /** Null for an invalid Opus packet, which is skipped like a lost one. */
  decode(packet: Buffer): Buffer | null;
  close(): void;
};

/** Decodes one person's speech to the format used for listening. */
export function createOpusDecoder(Opus: typeof OpusScript): OpusDecoder {
  const decoder = new Opus(heardFormat.rate, heardFormat.channels, Opus.Application.VOIP);
  let isClosed = false;
  return {
    decode(packet) {
      // For an empty packet, the library would make up a third of a second.
      if (isClosed || packet.length === 0) return null;
      try {
        return decoder.decode(packet);
      } catch {
        return null; // damaged in transit, or on purpose
      }
    },
    close() {
      if (!isClosed) decoder.delete();
      isClosed = true;
    },
  };
}
