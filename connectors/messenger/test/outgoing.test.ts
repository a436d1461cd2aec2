import { fakeContext } from '@svc/connector-kit/testing';
import { createFastClock } from '@svc/testing/fast-clock.ts';
import { hostileTexts, ordinaryTexts } from '@svc/testing/hostile-texts.ts';
import { startTelegramServer, type TelegramServerOptions } from '@svc/testing/telegram-server/index.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { markdownReplies } from '@svc/testing/markdown-replies.ts';
import { createOutgoing, type OutgoingDeps } from '../src/outgoing/create-outgoing.ts';
import { toMessages } from '../src/outgoing/to-messages.ts';
import { createTelegramApi } from '../src/telegram-api.ts';

/** The outgoing side, over the real library, at a server that checks it against the description of the Bot API. */
async function open(options: TelegramServerOptions = {}, deps: Partial<OutgoingDeps> = {}) {
  const clock = createFastClock(10);
  const server = await startTelegramServer({ clock, ...options });
  const folder = temporaryFolder();
  const fake = fakeContext({ type: 'messenger', dataDir: folder.path, config: {} });
  const { raw } = createTelegramApi(server.token, server.apiRoot);
  const outgoing = await createOutgoing({ ...fake.context, raw, clock, ...deps });
  onTestFinished(async () => {
    await server.close();
    folder.remove();
  });
  let turns = 0;
  const reply = (chat: number, message: number) =>
    outgoing.openReply(
      {
        channel: 'messenger',
        conversation_key: `messenger:inst_1:user:${chat}`,
        message_id: `${chat}:${message}`,
        sender: { raw_id: 'ann' },
        content: { text: 'hello' },
        channel_context: { chatId: String(chat) },
      },
      { turnId: `t${++turns}`, again: false },
    );
  const result = (...actions: object[]) =>
    ({ actions, outcome: 'replied', conversation_key: 'k', turn_id: `t${turns}` }) as never;
  return { server, clock, ...fake, ...outgoing, reply, result };
}
const text = (words: string) => ({ type: 'reply', text: words });
const words = 'A **reply** that is long enough to be shown at once.';

test('500 Markdown replies and hostile texts show as intended', async () => {
  const { server, call } = await open();
  const ann = server.person('Ann');
  const samples = [...ordinaryTexts, ...hostileTexts([])].filter(({ name }) => !name.startsWith('all '));
  const replies = [...fc.sample(markdownReplies, { numRuns: 500, seed: 1 }), ...samples.map(({ of }) => of(5000))];
  for (const message of replies.flatMap((reply) => toMessages(reply))) {
    const { message_id } = await call<{ message_id: number }>('sendMessage', { chat_id: ann.id, ...message });
    const shown = server.messages(ann.id).find(({ id }) => id === message_id);
    expect(shown?.text.trim()).toBe(message.text.trim());
  }
  expect(server.violations).toEqual([]);
});

test('a reply is a draft before it is a message, and grows by edits on a server without drafts', async () => {
  for (const hasDrafts of [true, false]) {
    const { server, reply, result } = await open({ hasDrafts });
    const ann = server.person('Ann');
    const { message_id } = server.say({ from: ann, text: 'hello' });
    const { handlers, finish } = reply(ann.id, message_id);
    handlers.onDelta?.(words);
    const seen = () => (hasDrafts ? server.drafts(ann.id) : server.replies(ann.id).map((one) => one.text));
    await expect.poll(seen).toEqual(['A reply that is long enough to be shown at once.']);
    expect(server.replies(ann.id)).toHaveLength(hasDrafts ? 0 : 1);
    await finish(result(text(`${words} Whole.`)));
    expect(server.replies(ann.id).map((one) => [one.text, one.before.length])).toEqual([
      ['A reply that is long enough to be shown at once. Whole.', hasDrafts ? 0 : 1],
    ]);
    expect(server.violations).toEqual([]);
  }
});

test.each(['in private', 'in a group'])('a message whose response is lost is sent once, %s', async (where) => {
  const { server, reply, result, send } = await open({ hasDrafts: false });
  const ann = server.person('Ann');
  const bob = server.person('Bob');
  const chat = where === 'in private' ? ann.id : server.supergroup('Work', [ann, bob]).id;
  const { message_id } = server.say({ from: ann, chat, text: 'hello' });
  server.say({ from: bob, ...(chat !== ann.id && { chat }), text: 'something else' });
  server.failNext(/sendMessage$/, 'cut after', { status: 502, when: 'before' }, { status: 502, when: 'after' });
  const { handlers, finish } = reply(chat, message_id);
  handlers.onDelta?.(words);
  await expect.poll(() => server.replies(chat).length).toBe(1);
  const whole = `${words} ${'word '.repeat(900)}end`;
  await finish(result(text(whole)));
  await send({ id: 'd1', target: String(chat), kind: 'text', text: 'Something more.' }, AbortSignal.timeout(60_000));
  const shown = server.replies(chat).map((one) => one.text);
  expect(shown).toEqual([...toMessages(whole).map((one) => one.text), 'Something more.']);
  expect(server.violations).toEqual([]);
});

test('sends files, albums, code, reactions and topics', async () => {
  const { server, reply, result, context } = await open();
  const ann = server.person('Ann');
  const work = server.supergroup('Work', [ann], true);
  const plans = server.openTopic(work.id, ann, 'Plans');
  const { message_id } = server.say({ from: ann, chat: work.id, thread: plans, text: 'hello' });
  const save = async (name: string, mime: string) => {
    const { path } = await context.uploads.save({ name, mime, data: Buffer.from(name) });
    return { type: 'file', path, name, mime };
  };
  const place = `${work.id}:${plans}`;
  const code = `Look:\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(400)}\`\`\``;
  const files = [await save('a.png', 'image/png'), await save('b.png', 'image/png'), await save('c.pdf', 'application/pdf')];
  const opened = reply(place as never, message_id);
  await opened.finish(result(text(code), ...files, { type: 'react', emoji: '👍' }));
  const shown = server.replies(work.id, plans);
  expect(shown.map(({ text: said, kinds, replyTo }) => [said, kinds, replyTo])).toEqual([
    ['Look:\n\n📎 code-1.ts', [], message_id],
    ['', ['document'], message_id],
    ['', ['photo'], message_id],
    ['', ['photo'], message_id],
    ['', ['document'], message_id],
  ]);
  expect([shown[2]?.album === shown[3]?.album, shown[2]?.album !== undefined]).toEqual([true, true]);
  expect(server.messages(work.id).find(({ id }) => id === message_id)?.reactions).toEqual(['👍']);
  expect(server.violations).toEqual([]);
});

test('keeps within the rate limits across chats and edits without losing text', async () => {
  const { server, clock, reply, result } = await open({ limits: {}, hasDrafts: false });
  const people = Array.from({ length: 20 }, (_, n) => server.person(`Person ${n}`));
  await Promise.all(
    people.map(async (person, n) => {
      const { message_id } = server.say({ from: person, text: 'hello' });
      const { handlers, finish } = reply(person.id, message_id);
      handlers.onDelta?.(words);
      await new Promise<void>((resolve) => void clock.after(1000 + n * 50, resolve));
      handlers.onDelta?.(' More.');
      await finish(result(text(`${'word '.repeat(1600)}${n}`)));
    }),
  );
  for (const [n, person] of people.entries())
    expect(
      server
        .replies(person.id)
        .map((one) => one.text)
        .join(' '),
    ).toBe(`${'word '.repeat(1600)}${n}`);
  expect([server.offences, server.violations]).toEqual([[], []]);
});
