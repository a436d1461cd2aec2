/**
 * A language that survives every codec: each word is a tone. The words can be decoded from the sound after it was encoded, sent,
 * decoded and resampled.
 */
const words = ['what', 'time', 'is', 'it', 'noon', 'rain', 'one', 'two', 'three', 'four', 'five', 'six', 'stop', 'yes', 'no'];
const lowestHz = 400;
const stepHz = 150;
const wordMs = 160;
const pauseMs = 80;
const frameMs = 10;

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

/** Whether a text has only known words. */
export const canSay = (text: string): boolean => wordsIn(text).length > 0 && wordsIn(text).every((word) => words.includes(word));

/** A text as 16-bit samples on one channel. */
export function sayTones(text: string, rate: number): Buffer {
  const samples = wordsIn(text).flatMap((word) => {
    const hz = lowestHz + words.indexOf(word) * stepHz;
    const tone = Array.from({ length: (rate * wordMs) / 1000 }, (_, n) => 12_000 * Math.sin((2 * Math.PI * hz * n) / rate));
    return [...tone, ...Array.from({ length: (rate * pauseMs) / 1000 }, () => 0)];
  });
  const pcm = Buffer.alloc(samples.length * 2);
  samples.forEach((value, n) => pcm.writeInt16LE(Math.round(value), n * 2));
  return pcm;
}

/** The words in 16-bit samples of one channel; empty where there are none. */
export function hearTones(pcm: Buffer, rate: number): string {
  const length = (rate * frameMs) / 1000;
  const frames = Math.floor(pcm.length / 2 / length);
  const heard: string[] = [];
  let word: string | null = null;
  let count = 0;
  for (let frame = 0; frame < frames; frame++) {
    const found = wordOf(pcm.subarray(frame * length * 2, (frame + 1) * length * 2), rate);
    count = found === word ? count + 1 : 1;
    word = found;
    // Half of a word is enough; frames at its borders mix two tones.
    if (word !== null && count === wordMs / frameMs / 2) heard.push(word);
  }
  return heard.join(' ');
}

function wordOf(frame: Buffer, rate: number): string | null {
  const samples = Array.from({ length: frame.length / 2 }, (_, n) => frame.readInt16LE(n * 2));
  const energy = samples.reduce((sum, value) => sum + value ** 2, 0);
  if (energy / samples.length < 1000 ** 2) return null;
  const powers = words.map((_, index) => powerAt(samples, (lowestHz + index * stepHz) / rate));
  const best = powers.indexOf(Math.max(...powers));
  return words[best] ?? null;
}

/** The Goertzel algorithm. */
function powerAt(samples: readonly number[], turns: number): number {
  const factor = 2 * Math.cos(2 * Math.PI * turns);
  let [last, before] = [0, 0];
  for (const value of samples) [last, before] = [value + factor * last - before, last];
  return last ** 2 + before ** 2 - factor * last * before;
}
