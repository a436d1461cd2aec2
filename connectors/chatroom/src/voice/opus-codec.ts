import type OpusScript from 'opusscript';
import { bytesOf, createFramer, frameMs, heardFormat, playedFormat } from './sound.ts';

/** Packets of sound as the platform takes them, 20 ms each. The last is filled up with silence. */
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
  /** Null for what is no packet of Opus: it is skipped as one that was lost. */
  decode(packet: Buffer): Buffer | null;
  close(): void;
};

/** Decodes what one person says into the form that is listened to. */
export function createOpusDecoder(Opus: typeof OpusScript): OpusDecoder {
  const decoder = new Opus(heardFormat.rate, heardFormat.channels, Opus.Application.VOIP);
  let isClosed = false;
  return {
    decode(packet) {
      // Of no bytes at all the library makes up a third of a second.
      if (isClosed || packet.length === 0) return null;
      try {
        return decoder.decode(packet);
      } catch {
        return null; // damaged on its way, or made to be
      }
    },
    close() {
      if (!isClosed) decoder.delete();
      isClosed = true;
    },
  };
}
