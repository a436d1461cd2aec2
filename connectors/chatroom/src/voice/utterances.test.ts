import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silence, voice } from './testing/sounds.ts';
import { createUtterances } from './utterances.ts';

function hear(sound: Buffer, cuts: readonly number[] = [], maxMs?: number) {
  const heard: { ms: number; isCut: boolean }[] = [];
  let begins = 0;
  const utterances = createUtterances(
    { onBegin: () => begins++, onUtterance: (pcm, isCut) => heard.push({ ms: pcm.length / 32, isCut }) },
    { maxMs },
  );
  const borders = [0, ...cuts.map((cut) => Math.min(cut, sound.length)).toSorted((a, b) => a - b), sound.length];
  borders.slice(1).forEach((end, n) => utterances.push(sound.subarray(borders[n], end)));
  utterances.end();
  return { heard, begins };
}

test('an utterance includes a short lead-in and the pause after it', () => {
  const sound = Buffer.concat([...silence(50), ...voice(50), ...silence(100)]);
  expect(hear(sound)).toEqual({ heard: [{ ms: 260 + 1000 + 700, isCut: false }], begins: 1 });
});

test('the end of the sound ends an utterance', () => {
  expect(hear(Buffer.concat(voice(50)))).toEqual({ heard: [{ ms: 1000 + 700, isCut: false }], begins: 1 });
});

test('silence is not an utterance', () => {
  expect(hear(Buffer.concat(silence(200)))).toEqual({ heard: [], begins: 0 });
});

test('cuts a long utterance at the limit without losing any of it', () => {
  const { heard, begins } = hear(Buffer.concat([...voice(250), ...silence(50)]), [], 2000);
  expect(heard).toEqual([
    { ms: 2000, isCut: true },
    { ms: 2000, isCut: true },
    { ms: 1000 + 700, isCut: false },
  ]);
  expect(begins).toBe(1);
});

test('finds the same utterances however the sound is cut', () => {
  const sound = Buffer.concat([...silence(20), ...voice(30), ...silence(50), ...voice(12), ...silence(40), ...voice(9)]);
  const whole = hear(sound);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: sound.length }), { maxLength: 40 }), (cuts) => {
      expect(hear(sound, cuts)).toEqual(whole);
    }),
    { numRuns: 40 },
  );
});

test('speech after the end of the sound is a new utterance', () => {
  const said: number[] = [];
  const utterances = createUtterances({ onBegin: () => undefined, onUtterance: (pcm) => said.push(pcm.length / 32) });
  for (let n = 0; n < 3; n++) {
    utterances.push(Buffer.concat(voice(20)));
    utterances.end();
  }
  expect(said).toEqual([1100, 1100, 1100]);
});
