import { expect, test } from 'vitest';
import { createSpeechLine, type Player, type SpokenTurn } from './speech-line.ts';
import { createSpokenReply } from './spoken-reply.ts';

/** A player that continues when the test says so. */
function fakePlayer() {
  const played: string[] = [];
  const gate = { next: Promise.withResolvers<void>() };
  const step = () => {
    gate.next.resolve();
    gate.next = Promise.withResolvers();
  };
  const player: Player = {
    play(sound) {
      const done = Promise.withResolvers<void>();
      const ending = new AbortController();
      void (async () => {
        for await (const part of sound) {
          if (ending.signal.aborted) return;
          played.push(part.toString());
          await gate.next.promise;
          if (ending.signal.aborted) return;
        }
        done.resolve();
      })();
      const stop = () => {
        ending.abort();
        done.resolve();
      };
      return { done: done.promise, stop };
    },
  };
  return { player, played, step };
}

const turnOf = (text: string, more: Partial<SpokenTurn> = {}): SpokenTurn => {
  const reply = createSpokenReply({
    speak: async function* (sentence) {
      yield Buffer.from(sentence);
    },
    onFault: (error) => {
      throw error;
    },
  });
  reply.add(text);
  reply.end();
  return { reply, speaker: 'ann', hasEnded: false, ...more };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));
const quiet = async () => undefined;

test('speaks replies one after another', async () => {
  const { player, played, step } = fakePlayer();
  const line = createSpeechLine({ player, quiet });
  line.say(turnOf('One.'));
  line.say(turnOf('Two. Three.'));
  await settled();
  expect(played).toEqual(['One.']);
  for (let n = 0; n < 3; n++) {
    step();
    await settled();
  }
  expect(played).toEqual(['One.', 'Two.', 'Three.']);
  expect(line.isSpeaking).toBe(false);
});

test('interrupt() stops what is spoken and queued, and returns the turns that still run', async () => {
  const { player, played, step } = fakePlayer();
  const line = createSpeechLine({ player, quiet });
  const turns = [turnOf('One. More.'), turnOf('Two.', { hasEnded: true }), turnOf('Three.')];
  turns.forEach((turn) => line.say(turn));
  await settled();
  expect(line.interrupt()).toEqual([turns[0], turns[2]]);
  step();
  await settled();
  expect(played).toEqual(['One.']);
  line.say(turnOf('After.'));
  await settled();
  expect(played).toEqual(['One.', 'After.']);
});

test('does not interrupt a reply that has not been spoken yet', async () => {
  const { player, played } = fakePlayer();
  const line = createSpeechLine({ player, quiet });
  const reply = createSpokenReply({ speak: async function* (text) { yield Buffer.from(text); }, onFault: () => undefined }); // prettier-ignore
  line.say({ reply, speaker: 'ann', hasEnded: false });
  await settled();
  expect(line.interrupt()).toEqual([]);
  reply.end('It is noon.');
  await settled();
  expect(played).toEqual(['It is noon.']);
});

test('waits while a person speaks', async () => {
  const { player, played } = fakePlayer();
  const silence = Promise.withResolvers<void>();
  const line = createSpeechLine({ player, quiet: () => silence.promise });
  line.say(turnOf('One.'));
  await settled();
  expect(played).toEqual([]);
  silence.resolve();
  await settled();
  expect(played).toEqual(['One.']);
});

test('rejects replies when more than four wait', () => {
  const { player } = fakePlayer();
  const line = createSpeechLine({ player, quiet });
  expect(Array.from({ length: 6 }, () => line.say(turnOf('One.')))).toEqual([true, true, true, true, true, false]);
});

test('speaks nothing after close()', async () => {
  const { player, played } = fakePlayer();
  const line = createSpeechLine({ player, quiet });
  line.say(turnOf('One.'));
  line.close();
  expect(line.say(turnOf('Two.'))).toBe(false);
  await settled();
  expect(played).toEqual([]);
});
