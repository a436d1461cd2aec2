import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { onTestFinished } from 'vitest';

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

/** Fake voice libraries in a folder, for tests in which nothing is heard or said: each channel can be joined at once. */
export async function installQuietVoice() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const packages = { '@discordjs/voice': library, opusscript: '' };
  for (const [name, source] of Object.entries(packages)) {
    const at = path.join(folder.path, 'node_modules', name);
    mkdirSync(at, { recursive: true });
    writeFileSync(path.join(at, 'index.js'), source);
  }
  // The cast: the module was written above.
  const { joined } = (await import(path.join(folder.path, 'node_modules/@discordjs/voice/index.js'))) as {
    joined: { joinConfig: { channelId: string } }[];
  };
  /** A moderator moves the connection that joined last. */
  const move = (channel: string): void => void (joined.at(-1)!.joinConfig.channelId = channel);
  return { folder: folder.path, move };
}
