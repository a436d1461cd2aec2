import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fakeContext } from '@svc/connector-kit/testing';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openVoice } from './open-voice.ts';

/** The libraries as far as they are used where nothing is heard or said: each channel lets it in at once. */
const library = `
const { EventEmitter } = require('node:events');
const connection = ({ channelId }) =>
  Object.assign(new EventEmitter(), {
    state: { status: 'ready' },
    joinConfig: { channelId },
    receiver: { speaking: new EventEmitter() },
    subscribe() {},
    destroy() { this.state = { status: 'destroyed' }; },
  });
const joined = [];
module.exports = {
  joined,
  joinVoiceChannel: (config) => (joined.push(connection(config)), joined.at(-1)),
  entersState: async () => {},
  createAudioPlayer: () => Object.assign(new EventEmitter(), { stop() {} }),
  VoiceConnectionStatus: { Ready: 'ready', Destroyed: 'destroyed' },
  NoSubscriberBehavior: {},
};`;

async function joinedRoom() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  for (const [name, source] of [
    ['@discordjs/voice', library],
    ['opusscript', ''],
  ] as const) {
    const at = path.join(folder.path, 'node_modules', name);
    mkdirSync(at, { recursive: true });
    writeFileSync(path.join(at, 'index.js'), source);
  }
  const { context } = fakeContext({ type: 'chatroom', dataDir: folder.path, config: {} });
  const clock = createFakeClock();
  const posts: string[] = [];
  const people = new Map([['c', 1]]);
  const off = new Set<string>();
  const voice = openVoice({
    ...context,
    packages: { folder: folder.path },
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
  const { joined } = (await import(path.join(folder.path, 'node_modules/@discordjs/voice/index.js'))) as {
    joined: { joinConfig: { channelId: string } }[];
  };
  const move = (channel: string) => void (joined.at(-1)!.joinConfig.channelId = channel);
  return { voice, clock, posts, people, off, place, move };
}

test('who is moved with the others counts them where it is now, and can be called back', async () => {
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

test.each(['c', 't'])('it leaves when the operator switches a channel off (%s)', async (channel) => {
  const { voice, clock, posts, off } = await joinedRoom();
  clock.advance(60_000);
  expect(posts).toEqual([]);
  off.add(channel);
  clock.advance(10_000);
  expect([voice.places(), posts]).toEqual([[], ['I left the voice channel: I was switched off there.']]);
});
