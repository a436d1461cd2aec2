import { Bot, GrammyError, InputFile } from 'grammy';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startCrablineTelegram, type CrablineTelegram } from './start-crabline-telegram.ts';

const ann = { senderId: 100_000_001, senderName: 'Ann' };
let peer: CrablineTelegram;
let bot: Bot;

beforeEach(async () => {
  peer = await startCrablineTelegram();
  bot = new Bot(peer.token, { client: { apiRoot: peer.apiRoot } });
});
afterEach(() => peer.close());

const sent = () =>
  peer
    .recorded()
    .filter(({ method }) => method === 'sendMessage')
    .map(({ body }) => body['text']);

test('the real client library polls and answers', async () => {
  bot.on('message:text', (ctx) => ctx.reply(`you said ${ctx.msg.text}`));
  const running = bot.start({ timeout: 5 });
  await peer.inject({ ...ann, text: 'hello' });
  await peer.inject({ ...ann, chatId: -1_001_000_000_001, text: 'all' });
  await expect.poll(sent).toEqual(['you said hello', 'you said all']);
  await bot.stop();
  await running;
  expect(peer.violations).toEqual([]);
});

test('rejects one of two concurrent polls', async () => {
  const polls = [1, 2].map(() => bot.api.getUpdates({ timeout: 1 }).catch((error: unknown) => error));
  const answers = await Promise.all(polls);
  expect(answers).toContainEqual([]);
  expect(answers).toContainEqual(expect.objectContaining({ error_code: 409 }));
});

test('requests fail as the test asks, and uploads work', async () => {
  peer.failNext(/^sendMessage$/, 'cut before', 'cut after', { status: 502, when: 'after' }, { retryAfterS: 2 });
  const outcomes: string[] = [];
  for (const text of ['1', '2', '3', '4', '5'])
    outcomes.push(
      await bot.api.sendMessage(ann.senderId, text).then(
        () => 'sent',
        (error: unknown) => (error instanceof GrammyError ? String(error.error_code) : 'cut'),
      ),
    );
  expect(outcomes).toEqual(['cut', 'cut', 'cut', '429', 'sent']);
  expect(sent()).toEqual(['2', '3', '5']);
  const { document } = await bot.api.sendDocument(ann.senderId, new InputFile(Buffer.from('x'), 'a b.txt'));
  expect(document.file_id).toEqual(expect.any(String));
});

test('enforces the documented limits', async () => {
  await peer.close();
  peer = await startCrablineTelegram({ hasLimits: true });
  bot = new Bot(peer.token, { client: { apiRoot: peer.apiRoot } });
  const sends = Array.from({ length: 4 }, () => bot.api.sendMessage(ann.senderId, 'x'));
  const outcomes = await Promise.allSettled(sends);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
  expect(peer.offences).toEqual([{ chat: ann.senderId, limit: 'chat', retryAfterS: 3 }]);
});

test('reports calls that the API description does not allow', async () => {
  await bot.api.raw.sendMessage({ chat_id: ann.senderId, text: 'x', parse_mod: 'HTML' } as never);
  expect(peer.violations).toEqual(['sendMessage unknown: parse_mod']);
});
