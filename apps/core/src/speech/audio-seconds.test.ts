import { expect, test } from 'vitest';
import { audioSeconds } from './audio-seconds.ts';
import { audioTypeOf, audioTypeOfBytes } from './audio-type.ts';

const seconds = (mime: string, clip: Buffer) => {
  const type = audioTypeOf(mime);
  return type === null ? null : audioSeconds(clip, type);
};

/** 16 bits, one channel. `said`: the length of the data according to the header. */
function wave(rate: number, bytes: number, said = bytes): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(said + 36, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(said, 40);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}

test.each([
  ['audio/ogg', 32],
  ['audio/webm', 64],
  ['audio/mpeg', 128],
  ['audio/mp4', 96],
  ['audio/aac', 96],
  ['audio/flac', 512],
  ['audio/amr', 12.8],
])('the length of a %s clip is estimated at %s kbit/s', (mime, kilobits) => {
  expect(seconds(mime, Buffer.alloc((kilobits * 1000 * 10) / 8))).toBe(10);
});

test('a wave file is as long as its header says, and at most its own size', () => {
  expect(seconds('audio/wav', wave(22_050, 22_050 * 2 * 3))).toBe(3);
  for (const said of [0x7fff_f000, 0]) expect(seconds('audio/wav', wave(8000, 8000 * 2 * 3, said))).toBe(3);
});

test('a wave file is no shorter than its samples, whatever rate in bytes its header names', () => {
  const clip = wave(8000, 8000 * 2 * 3);
  clip.writeUInt32LE(0xffff_ffff, 28);
  expect(seconds('audio/wav', clip)).toBe(3);
  clip.writeUInt16LE(0x11, 20); // compressed: only the header knows its rate
  clip.writeUInt32LE(4000, 28);
  expect(seconds('audio/wav', clip)).toBe(12);
});

test.each([Buffer.from('RIFF'), wave(0, 32_000), Buffer.alloc(32_000)])('a broken wave file is given a length too', (clip) => {
  expect(seconds('audio/wav', clip)).toBeGreaterThan(0);
});

test.each([
  ['OggS', 'ogg'],
  ['RIFF\0\0\0\0WAVE', 'wav'],
  ['fLaC', 'flac'],
  ['#!AMR\n', 'amr'],
  ['#!AMR-WB\n', 'amr-wb'],
  ['\0\0\0\x20ftypM4A ', 'm4a'],
  ['\x1A\x45\xDF\xA3', 'webm'],
  ['ID3\x04', 'mp3'],
  ['\xFF\xFB\x90', 'mp3'],
  ['\xFF\xF1\x50', 'aac'],
  ['%PDF-1.7', null],
  ['', null],
])('bytes that begin with %j are detected as %s', (start, name) => {
  expect(audioTypeOfBytes(Buffer.from(start, 'latin1'))?.name ?? null).toBe(name);
});

test.each(['text/html', 'audio/x-something', '__proto__', 'constructor'])('%s is not an audio type', (mime) => {
  expect(audioTypeOf(mime)).toBeNull();
});
