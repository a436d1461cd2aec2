import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startCrablineServer } from '@openclaw/crabline';
import { temporaryFolder } from '../temporary-folder.ts';

/** What a process needs to be a bot there, with a voice channel. */
export type CrablineDiscordManifest = {
  botToken: string;
  endpoints: { apiRoot: string; voiceCaCertificate: string };
  fixture: { guildId: string; voiceChannelId: string };
};

export type CrablineDiscord = {
  manifest: CrablineDiscordManifest;
  /** The certificate of its voice server, for `NODE_EXTRA_CA_CERTS`. */
  caFile: string;
  close(): Promise<void>;
};

/** The Discord that others wrote, on loopback: REST, gateway and voice signalling. It sends back each packet of voice that it gets. */
export async function startCrablineDiscord(): Promise<CrablineDiscord> {
  const folder = temporaryFolder();
  const recorderPath = path.join(folder.path, 'record.jsonl');
  const peer = await startCrablineServer({ channel: 'discord', host: '127.0.0.1', port: 0, recorderPath });
  // The cast: its own type is one for all its channels.
  const manifest = peer.manifest as unknown as CrablineDiscordManifest;
  const caFile = path.join(folder.path, 'ca.pem');
  writeFileSync(caFile, manifest.endpoints.voiceCaCertificate);
  return {
    manifest,
    caFile,
    async close() {
      await peer.close();
      folder.remove();
    },
  };
}
