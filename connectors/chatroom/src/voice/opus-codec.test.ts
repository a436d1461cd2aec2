import OpusScript from 'opusscript';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createPcmConverter } from '@svc/connector-kit/audio/pcm.ts';
import { createOpusDecoder, encodeOpus, type OpusDecoder } from './opus-codec.ts';
import { frameMs, heardFormat, playedFormat } from './sound.ts';
import { framesOf } from './testing/sounds.ts';
import { levelOf } from './voice-activity.ts';

const decoders: OpusDecoder[] = [];
afterEach(() => decoders.splice(0).forEach((each) => each.close()));
const open = () => {
  const decoder = createOpusDecoder(OpusScript);
  decoders.push(decoder);
  return decoder;
};

async function encode(sound: Buffer): Promise<Buffer[]> {
  const packets: Buffer[] = [];
  const parts = (async function* () {
    for (let at = 0; at < sound.length; at += 1000) yield sound.subarray(at, at + 1000);
  })();
  for await (const packet of encodeOpus(OpusScript, parts)) packets.push(packet);
  return packets;
}

const played = (db: number, frames: number): Buffer => {
  const converter = createPcmConverter(heardFormat, playedFormat);
  return Buffer.concat([converter.push(Buffer.concat(framesOf(db, frames))), converter.end()]);
};

test('decodes what it encodes, with the same length and level', async () => {
  const packets = await encode(played(-20, 25));
  expect(packets).toHaveLength(25);
  const decoder = open();
  const heard = Buffer.concat(packets.map((packet) => decoder.decode(packet) as Buffer));
  expect(heard.length / ((heardFormat.rate / 1000) * 2)).toBe(25 * frameMs);
  expect(levelOf(heard.subarray(heard.length / 2))).toBeCloseTo(-20, 0);
});

test('eight decoders and an encoder do not interfere', async () => {
  const packets = await encode(played(-20, 50));
  const all = Array.from({ length: 8 }, open);
  const heard = all.map((decoder) => Buffer.concat(packets.map((packet) => decoder.decode(packet) as Buffer)));
  expect(new Set(heard.map((each) => each.toString('base64'))).size).toBe(1);
});

describe('invalid packet', () => {
  test('is skipped, whatever its bytes are', () => {
    const decoder = open();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
        const pcm = decoder.decode(Buffer.from(bytes));
        expect(pcm === null || pcm.length <= (heardFormat.rate / 1000) * 120 * 2).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('does not affect later packets', async () => {
    const packets = await encode(played(-20, 20));
    const decoder = open();
    expect(decoder.decode(Buffer.alloc(4000, 0xff))).toBeNull();
    expect(packets.every((packet) => decoder.decode(packet)?.length === 640)).toBe(true);
  });
});

test('a closed decoder decodes nothing, and close() is idempotent', () => {
  const decoder = createOpusDecoder(OpusScript);
  decoder.close();
  decoder.close();
  expect(decoder.decode(Buffer.from([0xf8, 0xff, 0xfe]))).toBeNull();
});
