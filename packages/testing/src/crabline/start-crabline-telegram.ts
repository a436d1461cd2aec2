import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startCrablineServer } from '@openclaw/crabline';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFaultProxy, type FaultProxy, type FaultProxyOptions } from './start-fault-proxy.ts';

/** A text of a person: in their private chat, or in the given group. */
export type InjectedText = { senderId: number; senderName: string; text: string; chatId?: number; messageThreadId?: number };

/** The requests that crabline got, in order. */
export type CrablineCall = { method: string; body: Record<string, unknown> };

/** The Bot API server of `@openclaw/crabline` (third-party), behind our faults and limits. */
export type CrablineTelegram = FaultProxy & {
  apiRoot: string;
  token: string;
  inject(text: InjectedText): Promise<void>;
  recorded(): CrablineCall[];
};

/**
 * It supports long polls, texts, edits and uploads, and refuses a second poller. It has no downloads, no incoming photos, no drafts and
 * no limits, and accepts any formatting: our `telegram-server` covers those.
 */
export async function startCrablineTelegram(options: Omit<FaultProxyOptions, 'target'> = {}): Promise<CrablineTelegram> {
  const folder = temporaryFolder();
  const recorderPath = path.join(folder.path, 'recorded.jsonl');
  const crabline = await startCrablineServer({ channel: 'telegram', host: '127.0.0.1', port: 0, recorderPath });
  const { manifest } = crabline;
  const proxy = await startFaultProxy({ ...options, target: manifest.endpoints.apiRoot });
  const { url: apiRoot, close } = proxy;

  return Object.assign(proxy, {
    apiRoot,
    token: manifest.botToken,
    async inject({ senderId, chatId = senderId, ...text }: InjectedText) {
      const body = { ...text, senderId, chatId, ...(chatId < 0 && { chatType: 'supergroup' }) };
      const headers = { 'content-type': 'application/json', 'x-crabline-admin-token': manifest.adminToken };
      const sent = await fetch(manifest.endpoints.adminInboundUrl, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!sent.ok) throw new Error(`crabline took no text: ${await sent.text()}`);
    },
    recorded: () => readRecorded(recorderPath),
    async close() {
      await close();
      await crabline.close();
      folder.remove();
    },
  });
}

function readRecorded(file: string): CrablineCall[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as { type: string; path: string; body: Record<string, unknown> });
  return entries.flatMap(({ type, path: asked, body }) =>
    type === 'api' ? [{ method: asked.split('/').at(-1) ?? '', body }] : [],
  );
}
