import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pixelsOf } from './image-pixels.ts';
import { sniffImage } from './sniff-file.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const riff = (rest: Buffer) => Buffer.concat([Buffer.from('RIFF....WEBP'), rest]);

test.each([
  ['PNG', hex('89504e470d0a1a0a 0000000d 49484452 00000003 00000004 0806000000'), 12],
  ['GIF', hex('474946383961 0a00 1400 f00000'), 200],
  ['JPEG', hex('ffd8 ffe0 0010 4a46494600010100000100010000 ffc0 0011 08 0064 0032 03'), 5_000],
  ['progressive JPEG', hex('ffd8 ffc4 0004 0000 ffc2 0011 08 0064 0032 03'), 5_000],
  ['lossy WebP', riff(hex('56503820 00000000 000000 9d012a 0a00 1400')), 200],
  ['lossless WebP', riff(hex('5650384c 00000000 2f 09c00400')), 200],
  ['large WebP', riff(hex('56503858 0a000000 00000000 090000 130000')), 200],
  ['PNG that is a bomb', hex('89504e470d0a1a0a 0000000d 49484452 ffffffff ffffffff 0806000000'), 0xffffffff ** 2],
])('reads the number of pixels of a %s', (_what, bytes, pixels) => {
  expect(pixelsOf(bytes, sniffImage(bytes)?.mime ?? '')).toBe(pixels);
});

test('returns a number or null for any bytes, in little time', () => {
  const heads = ['89504e470d0a1a0a', '474946383961', 'ffd8ff', '52494646000000005745425056503858'].map(hex);
  fc.assert(
    fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 200 }), (head, rest) => {
      const bytes = Buffer.concat([head, rest]);
      const pixels = pixelsOf(bytes, sniffImage(bytes)?.mime ?? '');
      expect(pixels === null || pixels >= 0).toBe(true);
    }),
  );
  const endless = Buffer.concat([hex('ffd8'), Buffer.alloc(5_000_000, hex('ffe00002'))]);
  expect(pixelsOf(endless, 'image/jpeg')).toBeNull();
});
