import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createReader } from './reader.ts';

/** The sounds that were played, each until the test ends it. */
let heard: Heard[];
class Heard extends EventTarget {
  play(): Promise<void> {
    heard.push(this);
    return Promise.resolve();
  }
  pause(): void {
    this.dispatchEvent(new Event('pause'));
  }
  end(): void {
    this.dispatchEvent(new Event('ended'));
  }
}

type Fetch = { text: string; signal: AbortSignal; come(): void };

beforeEach(() => {
  heard = [];
  vi.stubGlobal('Audio', Heard);
});
afterEach(() => void vi.unstubAllGlobals());

function open() {
  const fetches: Fetch[] = [];
  const faults: string[] = [];
  const tts = (text: string, _voice: string | null, signal: AbortSignal) =>
    new Promise<Blob>((resolve, reject) => {
      fetches.push({ text, signal, come: () => resolve(new Blob()) });
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    });
  const reader = createReader({
    gateway: { tts },
    voice: null,
    onSpeaking: () => undefined,
    onFault: (words) => faults.push(words),
  });
  return { reader, fetches, faults, texts: () => fetches.map(({ text }) => text) };
}

test('plays one sentence of a long answer and fetches the next one alone', async () => {
  const { reader, fetches, texts } = open();
  reader.say('One. Two. Three. Four.');
  expect(texts()).toEqual(['One.']);
  fetches[0]?.come();
  await expect.poll(() => heard.length).toBe(1);
  fetches[1]?.come();
  expect(texts()).toEqual(['One.', 'Two.']);
  heard[0]?.end();
  await expect.poll(() => heard.length).toBe(2);
  expect(texts()).toEqual(['One.', 'Two.', 'Three.']);
});

test('fetches the next sentence of a growing answer as soon as it is complete', async () => {
  const { reader, fetches, texts } = open();
  reader.follow('a', 'One. ', false);
  fetches[0]?.come();
  await expect.poll(() => heard.length).toBe(1);
  reader.follow('a', 'One. Two. Three. ', false);
  expect(texts()).toEqual(['One.', 'Two.']);
});

test('stopping aborts the fetch without an error, and the next text is played', async () => {
  const { reader, fetches, faults, texts } = open();
  reader.say('One. Two. Three.');
  fetches[0]?.come();
  await expect.poll(() => heard.length).toBe(1);
  reader.stop();
  expect(fetches[1]?.signal.aborted).toBe(true);
  reader.say('Else.');
  await expect.poll(texts).toEqual(['One.', 'Two.', 'Else.']);
  fetches[2]?.come();
  await expect.poll(() => heard.length).toBe(2);
  expect(faults).toEqual([]);
});
