import { fakeContext } from '@svc/connector-kit/testing';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { openVoice } from './open-voice.ts';
import { installQuietVoice } from './testing/quiet-voice.ts';

async function joinedRoom() {
  const { folder, move } = await installQuietVoice();
  const { context } = fakeContext({ type: 'chatroom', dataDir: folder, config: {} });
  const clock = createFakeClock();
  const posts: string[] = [];
  const people = new Map([['c', 1]]);
  const off = new Set<string>();
  const voice = openVoice({
    ...context,
    packages: { folder },
    clock,
    take: async () => undefined,
    adapterOf: () => null as never,
    speakerOf: async () => null,
    toEnvelope: async () => null as never,
    post: async (_channel, text) => String(posts.push(text)),
    abort: async () => undefined,
    peopleIn: ({ channel }) => people.get(channel) ?? 0,
    isOn: ({ channel, text }) => !off.has(channel) && !off.has(text),
  });
  const place = { guild: 'g', channel: 'c', text: 't' };
  await voice.join(place);
  return { voice, clock, posts, people, off, place, move };
}

test('counts people where it was moved to, and can be called back', async () => {
  const { voice, clock, posts, people, place, move } = await joinedRoom();
  move('other');
  people.clear();
  people.set('other', 2);
  clock.advance(5 * 60_000);
  expect([voice.places(), posts]).toEqual([[{ ...place, channel: 'other' }], []]);
  await voice.join(place);
  expect(voice.places()).toEqual([place]);
  clock.advance(2 * 60_000);
  expect([voice.places(), posts]).toEqual([[], ['I left the voice channel: nobody else was there.']]);
});

test.each(['c', 't'])('leaves when the operator disables a channel (%s)', async (channel) => {
  const { voice, clock, posts, off } = await joinedRoom();
  clock.advance(60_000);
  expect(posts).toEqual([]);
  off.add(channel);
  clock.advance(10_000);
  expect([voice.places(), posts]).toEqual([[], ['I left the voice channel: I was switched off there.']]);
});
