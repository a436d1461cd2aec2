import { EventEmitter } from 'node:events';
import * as voice from '@discordjs/voice';
import OpusScript from 'opusscript';
import { expect, onTestFinished, test, vi } from 'vitest';
import { joinChannel } from './voice-connection.ts';
import type { VoicePackages } from './voice-packages.ts';

/** A connection of the library whose states the test sets. */
class FakeConnection extends EventEmitter {
  state: { status: string; closeCode?: number } = { status: 'signalling' };
  joinConfig: { channelId: string | null } = { channelId: 'c' };
  rejoins = 0;
  isDestroyed = false;
  /** Whether it is let in when it asks again. */
  comesBack = false;

  become(status: string, more: object = {}): void {
    const before = this.state;
    this.state = { status, ...more };
    this.emit('stateChange', before, this.state);
    this.emit(status, before, this.state);
  }
  rejoin(): boolean {
    this.rejoins++;
    this.become('signalling');
    if (this.comesBack) setImmediate(() => this.become('ready'));
    return true;
  }
  destroy(): void {
    this.isDestroyed = true;
    this.become('destroyed');
  }
}

function open() {
  const connection = new FakeConnection();
  const lost: string[] = [];
  // The casts: the library as far as it is used here.
  const packages = { voice: { ...voice, joinVoiceChannel: () => connection }, Opus: OpusScript } as unknown as VoicePackages;
  const options = { guild: 'g', channel: 'c', adapterCreator: null as never, group: 'i', log: () => undefined };
  const joined = joinChannel(packages, { ...options, onLost: (why) => lost.push(why), joinMs: 30, comeBackMs: 20 });
  return { connection, lost, joined };
}

async function openReady() {
  const opened = open();
  opened.connection.become('ready');
  return { ...opened, joined: await opened.joined };
}

test('a channel that does not let it in is left, and the reason says what to check', async () => {
  const { connection, joined, lost } = open();
  await expect(joined).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('connect and speak') });
  expect([connection.isDestroyed, lost]).toEqual([true, []]);
});

test('a connection that comes back by itself is not asked to', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { connection, lost } = await openReady();
  connection.become('connecting');
  connection.become('ready');
  await vi.advanceTimersByTimeAsync(60);
  expect([connection.rejoins, lost]).toEqual([0, []]);
});

test('one that does not is joined again, and given up after five tries', async () => {
  const { connection, lost } = await openReady();
  connection.become('disconnected', { closeCode: 4006 });
  await expect.poll(() => lost).toEqual(['the connection broke and did not come back']);
  expect([connection.rejoins, connection.isDestroyed]).toEqual([5, true]);
});

test('one that comes back after it was asked to goes on, and may break again', async () => {
  const { connection, lost } = await openReady();
  connection.comesBack = true;
  for (const rounds of [1, 2]) {
    const back = new Promise((resolve) => connection.once('ready', resolve));
    connection.become('disconnected', { closeCode: 4006 });
    await back;
    await new Promise((resolve) => setImmediate(resolve));
    expect(connection.rejoins).toBe(rounds);
  }
  expect(lost).toEqual([]);
});

test('who was sent away does not come back', async () => {
  const { connection, lost } = await openReady();
  connection.become('disconnected', { closeCode: 4014 });
  await expect.poll(() => lost).toEqual(['I was disconnected']);
  expect(connection.rejoins).toBe(0);
});

test('who leaves has lost nothing', async () => {
  const { connection, lost, joined } = await openReady();
  joined.close();
  joined.close();
  expect([connection.isDestroyed, lost]).toEqual([true, []]);
});

test('the end of the bot ends it', async () => {
  const { connection, lost } = await openReady();
  connection.become('destroyed');
  expect(lost).toEqual(['the connection to Discord ended']);
});
