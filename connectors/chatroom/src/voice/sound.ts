import type { PcmFormat } from '@svc/connector-kit/audio/pcm.ts';

/** The format used for listening: enough for speech, and Opus decodes directly to it. */
export const heardFormat = { rate: 16_000, channels: 1 } as const satisfies PcmFormat;
/** The format used for playing. */
export const playedFormat = { rate: 48_000, channels: 2 } as const satisfies PcmFormat;

/** Duration of a packet on the platform, and of the unit in which sound is analysed, ms. */
export const frameMs = 20;
export const bytesOf = ({ rate, channels }: PcmFormat, ms: number): number => (rate / 1000) * ms * channels * 2;

/** Cuts sound into frames of `bytes`, whatever the chunk sizes. */
export type Framer = { push(chunk: Buffer): Buffer[]; end(): Buffer | null };

export function createFramer(bytes: number): Framer {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const count = Math.floor(all.length / bytes);
      rest = Buffer.from(all.subarray(count * bytes));
      return Array.from({ length: count }, (_, n) => all.subarray(n * bytes, (n + 1) * bytes));
    },
    /** The last frame, padded with silence. */
    end() {
      if (rest.length === 0) return null;
      const last = Buffer.concat([rest], bytes);
      rest = Buffer.alloc(0);
      return last;
    },
  };
}

/** A wave file of 16-bit samples. */
export function toWav(pcm: Buffer, { rate, channels }: PcmFormat): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + pcm.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * channels * 2, 28);
  head.writeUInt16LE(channels * 2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([head, pcm]);
}
