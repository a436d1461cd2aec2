import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSpokenReply, type Speak } from './spoken-reply.ts';

/** Speaks a text as its letters, word by word. */
const asWords: Speak = async function* (text) {
  for (const word of text.split(' ')) yield Buffer.from(`${word} `);
};

async function listen(sound: AsyncIterable<Buffer>): Promise<string> {
  let heard = '';
  for await (const part of sound) heard += part.toString();
  return heard.trim();
}

const noFault = (error: unknown) => {
  throw error;
};

test('speaks sentences in order, as soon as each is complete', async () => {
  const reply = createSpokenReply({ speak: asWords, onFault: noFault });
  const sound = reply.sound();
  reply.add('It is noon. It ra');
  expect((await sound.next()).value?.toString()).toBe('It ');
  reply.add('ins. Stay');
  reply.end();
  expect(await listen(sound)).toBe('is noon. It rains. Stay');
});

test('requests the next two sentences while one is spoken, and no more', async () => {
  const asked: string[] = [];
  const speak: Speak = (text, signal) => {
    asked.push(text);
    return asWords(text, signal);
  };
  const reply = createSpokenReply({ speak, onFault: noFault });
  reply.add('One is first. Two is next. Three is late. Four is last. ');
  const sound = reply.sound();
  await sound.next();
  expect(asked).toEqual(['One is first.', 'Two is next.', 'Three is late.']);
  reply.end();
  await listen(sound);
  expect(asked).toHaveLength(4);
});

test('speaks a reply that comes as one text, but not the final text of a streamed one', async () => {
  const whole = createSpokenReply({ speak: asWords, onFault: noFault });
  whole.end('It is noon.');
  expect(await listen(whole.sound())).toBe('It is noon.');
  const grown = createSpokenReply({ speak: asWords, onFault: noFault });
  grown.add('It is');
  grown.end('It is noon.');
  expect(await listen(grown.sound())).toBe('It is');
});

test('does not speak text that was retracted in time', async () => {
  const reply = createSpokenReply({ speak: asWords, onFault: noFault });
  reply.add('Wrong one. Wrong two.');
  reply.retract();
  reply.add('Right.');
  reply.end();
  expect(await listen(reply.sound())).toBe('Right.');
});

test('stop() ends the sound and aborts its requests', async () => {
  const signals: AbortSignal[] = [];
  const speak: Speak = async function* (_text, signal) {
    signals.push(signal);
    yield Buffer.from('a');
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const reply = createSpokenReply({ speak, onFault: noFault });
  reply.add('One is first. Two is next. ');
  const sound = reply.sound();
  await sound.next();
  const rest = listen(sound);
  reply.stop();
  expect(await rest).toBe('');
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

test('stop() ends a reply that waits for more text', async () => {
  const reply = createSpokenReply({ speak: asWords, onFault: noFault });
  const heard = listen(reply.sound());
  reply.stop();
  expect(await heard).toBe('');
});

test('a failed request ends the sound and is reported once', async () => {
  const faults: unknown[] = [];
  const speak: Speak = async function* (text) {
    if (text.startsWith('Two')) throw new Error('no voice');
    yield Buffer.from(text);
  };
  const reply = createSpokenReply({ speak, onFault: (error) => faults.push(error) });
  reply.add('One is first. Two is next. Three is late. Four. ');
  reply.end();
  expect(await listen(reply.sound())).toBe('One is first.');
  expect(faults).toEqual([new Error('no voice')]);
});

test('speaks a long reply up to its limit', async () => {
  const reply = createSpokenReply({ speak: asWords, onFault: noFault, maxCharacters: 30 });
  reply.end('One is first. Two is next. Three is late.');
  expect(await listen(reply.sound())).toBe('One is first. Two is next.');
});

test('omits markup, URLs and code', async () => {
  const reply = createSpokenReply({ speak: asWords, onFault: noFault });
  reply.end('**It** is [here](https://example.org/a).\n```\nlet a;\n```\n| a | b |\n> See `x_y` at https://example.org now.');
  expect(await listen(reply.sound())).toBe('It is here. See x y at now.');
});

test('speaks everything once and in order, however it arrives', async () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(words, fc.array(fc.nat({ max: 200 }), { maxLength: 10 }), async (all, at) => {
      const text = all.map((word) => `Say ${word}. `).join('');
      const reply = createSpokenReply({ speak: asWords, onFault: noFault });
      const heard = listen(reply.sound());
      const borders = [0, ...at.map((each) => Math.min(each, text.length)).toSorted((a, b) => a - b), text.length];
      for (const [n, end] of borders.slice(1).entries()) {
        reply.add(text.slice(borders[n], end));
        await Promise.resolve();
      }
      reply.end();
      expect(await heard).toBe(text.trim());
    }),
    { numRuns: 60 },
  );
});
