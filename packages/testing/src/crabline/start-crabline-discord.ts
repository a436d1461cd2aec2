import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startCrablineServer } from '@openclaw/crabline';
import { temporaryFolder } from '../temporary-folder.ts';
import { startDiscordProxy, type DiscordProxy } from './start-discord-proxy.ts';

/** What a bot with a voice channel needs to connect. */
export type CrablineDiscordManifest = {
  adminToken: string;
  botToken: string;
  botUserId: string;
  endpoints: { adminInboundUrl: string; apiRoot: string; voiceCaCertificate: string };
  fixture: { guildId: string; channelId: string; voiceChannelId: string };
};

/** A text of a person in a channel of the guild (crabline's default one unless given), in a thread of `threadOf`, or in private. */
export type DiscordText = {
  senderId: string;
  senderName: string;
  content: string;
  channelId?: string;
  threadOf?: string;
  isPrivate?: boolean;
};

/** The Discord server of `@openclaw/crabline` (third-party) on loopback; `apiUrl` is behind our faults. */
export type CrablineDiscord = DiscordProxy & {
  apiUrl: string;
  manifest: CrablineDiscordManifest;
  /** The certificate of its voice server, for `NODE_EXTRA_CA_CERTS`. */
  caFile: string;
  inject(text: DiscordText): Promise<void>;
};

/**
 * It supports messages, threads, reactions, files, resumed sessions and voice signalling, and echoes each voice packet that it
 * gets. It has no interactions, no limits and no replay of missed events: our `discord-server` covers those.
 */
export async function startCrablineDiscord(): Promise<CrablineDiscord> {
  const folder = temporaryFolder();
  const recorderPath = path.join(folder.path, 'record.jsonl');
  const peer = await startCrablineServer({ channel: 'discord', host: '127.0.0.1', port: 0, recorderPath });
  // Cast because its type is the same for all its channels.
  const manifest = peer.manifest as unknown as CrablineDiscordManifest;
  const { endpoints, fixture, adminToken } = manifest;
  const caFile = path.join(folder.path, 'ca.pem');
  writeFileSync(caFile, endpoints.voiceCaCertificate);
  const proxy = await startDiscordProxy(new URL(endpoints.apiRoot).origin);
  const { close } = proxy;

  return Object.assign(proxy, {
    apiUrl: `${proxy.url}/api`,
    manifest,
    caFile,
    async inject({ channelId = fixture.channelId, threadOf: parentChannelId, isPrivate = false, ...text }: DiscordText) {
      const headers = { 'content-type': 'application/json', 'x-crabline-admin-token': adminToken };
      const body = JSON.stringify({ ...(!isPrivate && { guildId: fixture.guildId }), channelId, parentChannelId, ...text });
      const sent = await fetch(endpoints.adminInboundUrl, { method: 'POST', headers, body });
      if (!sent.ok) throw new Error(`crabline took no text: ${await sent.text()}`);
    },
    async close() {
      await close();
      await peer.close();
      folder.remove();
    },
  });
}
