import type { StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { startCrablineDiscord, type CrablineDiscord } from '@svc/testing/crabline/start-crabline-discord.ts';
import { createRandom } from '@svc/testing/random.ts';
import { randomFaults } from '@svc/testing/telegram-server/telegram-faults.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

const ann = { senderId: '200000000000000001', senderName: 'ann' };
let peer: CrablineDiscord;

/** The connector between an independent Discord server and a core that the test scripts. */
async function openChatroom(more: Partial<Config> = {}) {
  const folder = temporaryFolder();
  const config = { ...defaultsOf(meta), bot_token_secret_key: 'TOKEN', api_url: peer.apiUrl, reactions: false, ...more };
  const fake = fakeContext({ type: meta.type, dataDir: folder.path, config }, { TOKEN: peer.manifest.botToken });
  const live = await start(fake.context as unknown as StartContext<Config>);
  onTestFinished(async () => {
    fake.shutdown.abort();
    await live.stop();
    folder.remove();
  });
  return { live, ...fake };
}

beforeEach(async () => {
  peer = await startCrablineDiscord();
  onTestFinished(async () => {
    await peer.close();
    expect(peer.violations).toEqual([]);
  });
});

const mention = (text: string) => peer.inject({ ...ann, content: `<@${peer.manifest.botUserId}> ${text}` });

/** What the bot shows, oldest first, as the server gives it to a bot. */
async function shown(channel = peer.manifest.fixture.channelId): Promise<string[]> {
  const answer = await fetch(`${peer.apiUrl}/v10/channels/${channel}/messages?limit=100`, {
    headers: { authorization: `Bot ${peer.manifest.botToken}` },
  });
  const messages = (await answer.json()) as { content: string; author: { id: string }; attachments: { url: string }[] }[];
  const own = messages.filter(({ author }) => author.id === peer.manifest.botUserId).toReversed();
  return own.map(({ content, attachments }) =>
    [content, ...attachments.map(({ url }) => `file ${url.split('/').at(-1)}`)].join(' ').trim(),
  );
}

test('answers mentions in order despite network faults', async () => {
  await openChatroom();
  peer.fault = randomFaults(createRandom(7), { cutBefore: 0.1, errorBefore: 0.1, slow: 0.2, tooMany: 0.1 });
  for (let n = 0; n < 5; n++) await mention(`text ${n}`);
  const answers = Array.from({ length: 5 }, (_, n) => `echo: text ${n}`);
  await expect.poll(async () => (await shown()).filter((text) => text.startsWith('echo')), { timeout: 40_000 }).toEqual(answers);
});

test('private messages and threads have a conversation each', async () => {
  const { core } = await openChatroom();
  const opened = await fetch(`${peer.apiUrl}/v10/users/@me/channels`, {
    method: 'POST',
    headers: { authorization: `Bot ${peer.manifest.botToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ recipient_id: ann.senderId }),
  });
  const { id: channelId } = (await opened.json()) as { id: string };
  await peer.inject({ ...ann, channelId, isPrivate: true, content: 'hello' });
  await expect.poll(() => shown(channelId)).toEqual(['echo: hello']);
  const thread = '300000000000000001';
  await peer.inject({
    ...ann,
    channelId: thread,
    threadOf: peer.manifest.fixture.channelId,
    content: `<@${peer.manifest.botUserId}> aside`,
  });
  await expect.poll(() => shown(thread)).toEqual(['echo: aside']);
  const keys = core.turns.map(({ envelope }) => envelope.conversation_key);
  expect(keys).toEqual([`chatroom:inst_1:channel:${channelId}`, `chatroom:inst_1:channel:${thread}`]);
});

test('reconnects after the gateway drops the connection, and answers messages sent then', async () => {
  const { live } = await openChatroom();
  peer.dropGateway();
  await expect.poll(() => live.health().healthy).toBe(true);
  await expect
    .poll(
      async () => {
        await mention('after');
        return (await shown()).length;
      },
      { interval: 500, timeout: 30_000 },
    )
    .toBeGreaterThan(0);
});

test('the server accepts long replies and files', async () => {
  const { core } = await openChatroom();
  const long = Array.from({ length: 700 }, (_, n) => `word${n}`).join(' ');
  core.script = ({ result }) => result({ actions: [{ type: 'reply', text: long }] });
  await mention('tell me all');
  await expect.poll(async () => (await shown()).join(' ').replaceAll(/\s+/g, ' ')).toBe(long);
  expect((await shown()).length).toBeGreaterThan(1);
  core.script = ({ result }) =>
    result({ actions: [{ type: 'reply', text: `See:\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(300)}\`\`\`` }] });
  await mention('and the code');
  await expect.poll(async () => (await shown()).at(-1)).toMatch(/file code-1\.ts/);
});
