import { EventEmitter } from 'node:events';
import * as voice from '@discordjs/voice';
import OpusScript from 'opusscript';
import { expect, onTestFinished, test, vi } from 'vitest';
import { joinChannel } from './voice-connection.ts';
import type { VoicePackages } from './voice-packages.ts';

/** A connection of the library whose states are set by the test. */
class FakeConnection extends EventEmitter {
  state: { status: string; closeCode?: number } = { status: 'signalling' };
  joinConfig: { channelId: string | null } = { channelId: 'c' };
  rejoins = 0;
  isDestroyed = false;
  /** Whether a rejoin succeeds. */
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
  // The casts: the part of the library that is used here.
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

test('leaves a channel that does not admit it, and the reason says what to check', async () => {
  const { connection, joined, lost } = open();
  await expect(joined).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('connect and speak') });
  expect([connection.isDestroyed, lost]).toEqual([true, []]);
});

test('does not rejoin a connection that recovers itself', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { connection, lost } = await openReady();
  connection.become('connecting');
  connection.become('ready');
  await vi.advanceTimersByTimeAsync(60);
  expect([connection.rejoins, lost]).toEqual([0, []]);
});

test('rejoins a broken connection, and gives up after five tries', async () => {
  const { connection, lost } = await openReady();
  connection.become('disconnected', { closeCode: 4006 });
  await expect.poll(() => lost).toEqual(['the connection broke and did not come back']);
  expect([connection.rejoins, connection.isDestroyed]).toEqual([5, true]);
});

test('continues after a successful rejoin, and may rejoin again', async () => {
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

test('does not rejoin after it was disconnected by a moderator', async () => {
  const { connection, lost } = await openReady();
  connection.become('disconnected', { closeCode: 4014 });
  await expect.poll(() => lost).toEqual(['I was disconnected']);
  expect(connection.rejoins).toBe(0);
});

test('close() reports no loss, and is idempotent', async () => {
  const { connection, lost, joined } = await openReady();
  joined.close();
  joined.close();
  expect([connection.isDestroyed, lost]).toEqual([true, []]);
});

test('reports the loss when the bot disconnects', async () => {
  const { connection, lost } = await openReady();
  connection.become('destroyed');
  expect(lost).toEqual(['the connection to Discord ended']);
});
