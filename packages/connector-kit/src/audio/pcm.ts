import { createResampler, type Resampler } from './resampler.ts';

/** Sample rates of telephones, speech services and chat platforms, in samples a second. */
export const pcmRates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;
export type PcmRate = (typeof pcmRates)[number];

/** Sound as signed 16-bit little-endian samples; with two channels they alternate, left first. */
export type PcmFormat = { rate: PcmRate; channels: 1 | 2 };

export type PcmConverter = {
  /** Converts what can be converted so far. Chunks may end anywhere, even within a sample. */
  push(chunk: Uint8Array): Buffer;
  /** Converts the rest. Half a sample at the end is dropped. */
  end(): Buffer;
};

/**
 * Converts sound from one format to another as it arrives; the result does not depend on the chunk boundaries. When the rate rises, each
 * original sample that coincides with a new one is kept unchanged.
 */
export function createPcmConverter(from: PcmFormat, to: PcmFormat): PcmConverter {
  const inside = from.channels === to.channels ? to.channels : 1;
  const lanes = Array.from({ length: inside }, () => createResampler(from.rate, to.rate));
  const frameBytes = 2 * from.channels;
  let rest: Buffer = Buffer.alloc(0);

  return {
    push(chunk) {
      const bytes = Buffer.concat([rest, chunk]);
      const whole = bytes.length - (bytes.length % frameBytes);
      rest = Buffer.from(bytes.subarray(whole));
      const samples = split(bytes.subarray(0, whole), from.channels, inside);
      return join(
        lanes.map((lane, at) => lane.push(samples[at] as Float64Array)),
        to.channels,
      );
    },
    end: () =>
      join(
        lanes.map((lane: Resampler) => lane.end()),
        to.channels,
      ),
  };
}

/** Converts a stream, such as the body that `speech.speak` returns. */
export async function* convertPcm(
  source: AsyncIterable<Uint8Array>,
  from: PcmFormat,
  to: PcmFormat,
): AsyncGenerator<Buffer, void, undefined> {
  const converter = createPcmConverter(from, to);
  for await (const chunk of source) {
    const converted = converter.push(chunk);
    if (converted.length > 0) yield converted;
  }
  const last = converter.end();
  if (last.length > 0) yield last;
}

/** The samples of each channel; two channels become one by their mean. */
function split(bytes: Buffer, channels: 1 | 2, into: number): Float64Array[] {
  const frames = bytes.length / 2 / channels;
  const read = (frame: number, channel: number) => bytes.readInt16LE((frame * channels + channel) * 2);
  return Array.from({ length: into }, (_, lane) =>
    Float64Array.from({ length: frames }, (_none, frame) =>
      into < channels ? (read(frame, 0) + read(frame, 1)) / 2 : read(frame, lane),
    ),
  );
}

/** One channel becomes two identical ones. */
function join(lanes: readonly Float64Array[], channels: 1 | 2): Buffer {
  const frames = lanes[0]?.length ?? 0;
  const bytes = Buffer.allocUnsafe(frames * channels * 2);
  for (let channel = 0; channel < channels; channel++) {
    const lane = lanes[Math.min(channel, lanes.length - 1)] as Float64Array;
    for (let frame = 0; frame < frames; frame++)
      bytes.writeInt16LE(toSample(lane[frame] as number), (frame * channels + channel) * 2);
  }
  return bytes;
}

const toSample = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)));
