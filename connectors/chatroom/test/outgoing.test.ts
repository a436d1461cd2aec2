import { fakeContext } from '@svc/connector-kit/testing';
import { startDiscordServer, type DiscordServerOptions } from '@svc/testing/discord-server/index.ts';
import { markdownReplies } from '@svc/testing/markdown-replies.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createDiscordRest } from '../src/discord-rest.ts';
import { createOutgoing, type OutgoingDeps } from '../src/outgoing/create-outgoing.ts';
import { toMessages } from '../src/outgoing/to-messages.ts';

const text = (words: string) => ({ type: 'reply', text: words });
const words = 'A **reply** that is long enough to be shown.';

/** The outgoing side, at our own Discord server that checks each request against the description of the API. */
async function open({ server: options = {}, ...own }: Partial<OutgoingDeps> & { server?: DiscordServerOptions } = {}) {
  const folder = temporaryFolder();
  const server = await startDiscordServer(options);
  const { context, shutdown } = fakeContext({ type: 'chatroom', dataDir: folder.path, config: {} });
  onTestFinished(async () => {
    shutdown.abort();
    await server.close();
    folder.remove();
    expect(server.violations).toEqual([]);
  });
  const ann = server.person('Ann');
  const guild = server.guild('Work', [ann]);
  const begin = () =>
    createOutgoing({
      ...context,
      rest: createDiscordRest(server.token, server.apiUrl),
      bot: server.bot.user,
      hasReactions: false,
      ...own,
    });
  let outgoing = await begin();
  const ask = (channel: ReturnType<typeof server.channel>, again = false, message_id?: string) => {
    const id = message_id ?? server.say({ from: ann, channel, text: 'hello' }).id;
    const envelope = {
      channel: 'chatroom',
      conversation_key: `chatroom:i1:channel:${channel.id}`,
      message_id: id,
      sender: { raw_id: ann.id },
      content: { text: 'hello' },
      channel_context: { channelId: channel.id },
    };
    return { id, ...outgoing.openReply(envelope, { turnId: `t${id}`, again }) };
  };
  const result = (...actions: object[]) => ({ actions, outcome: 'replied', conversation_key: 'k', turn_id: 't1' }) as never;
  return {
    server,
    context,
    guild,
    ann,
    ask,
    result,
    channel: (name: string) => server.channel(guild, name),
    /** Starts another process with the state of the previous one. */
    async restart() {
      outgoing = await begin();
    },
    send: (target: string, message: object) =>
      outgoing.send({ id: 'd1', target, kind: 'text', ...message }, AbortSignal.timeout(60_000)),
  };
}

test('shows everything that a reply may contain, and mentions no one', async () => {
  const { server, context, ann, ask, result, channel } = await open();
  const general = channel('general');
  const save = async (name: string, mime: string) => {
    const { path } = await context.uploads.save({ name, mime, data: Buffer.from(name) });
    return { type: 'file', path, name, mime };
  };
  const code = `@everyone <@${ann.id}>\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(400)}\`\`\``;
  const files = [await save('a.png', 'image/png'), await save('b c.pdf', 'application/pdf')];
  const { id, finish } = ask(general);
  await finish(result(text(code), ...files, { type: 'react', emoji: '👍' }));
  const shown = server.replies(general);
  expect(shown.map((one) => [one.text, one.files.map(({ name }) => name.replace('_', ' ')), one.replyTo, one.pings])).toEqual([
    [`@everyone <@${ann.id}>\n\n📎 code-1.ts`, [], id, []],
    ['', ['code-1.ts', 'a.png', 'b c.pdf'], id, []],
  ]);
  expect(server.messages(general).find((one) => one.id === id)?.reactions).toHaveLength(1);
});

test('a reply is shown once when the responses of Discord are lost, also after a restart', async () => {
  const { server, ask, result, channel, restart } = await open();
  const general = channel('general');
  server.failNext(/^create_message$/, 'cut after');
  await ask(general).finish(result(text('One.')));
  server.failNext(/^create_message$/, { status: 502, when: 'after' });
  const second = ask(general);
  second.handlers.onDelta?.(words);
  await expect.poll(() => server.replies(general).length).toBe(2);
  await restart();
  await ask(general, true, second.id).finish(result(text('Two, whole.')));
  expect(server.replies(general).map((one) => one.text)).toEqual(['One.', 'Two, whole.']);
});

test('sends to a person in a private channel', async () => {
  const { server, ann, send } = await open();
  await send(`user:${ann.id}`, { text: 'hello' });
  expect(server.replies(server.dm(ann)).map((one) => one.text)).toEqual(['hello']);
});

test('keeps within the rate limits across channels and edits without losing text', async () => {
  const { server, ask, result, channel } = await open({ server: { limits: {} } });
  const channels = Array.from({ length: 8 }, (_, n) => channel(`room-${n}`));
  const long = 'word '.repeat(1200);
  await Promise.all(
    channels.map(async (room, n) => {
      const { handlers, finish } = ask(room);
      handlers.onDelta?.(words);
      await expect.poll(() => server.replies(room).length).toBeGreaterThan(0);
      handlers.onDelta?.(' More.');
      await finish(result(text(`${long}${n}`)));
    }),
  );
  for (const [n, room] of channels.entries())
    expect(
      server
        .replies(room)
        .map((one) => one.text)
        .join(' '),
    ).toBe(`${long}${n}`);
  expect(server.offences.filter(({ early }) => early)).toEqual([]);
});

test('sends any Markdown', async () => {
  const { server, ask, result, channel } = await open();
  const replies = fc.sample(markdownReplies, { numRuns: 60, seed: 1 }).filter((markdown) => toMessages(markdown).length > 0);
  const rooms = replies.map((_, n) => channel(`room-${n}`));
  await Promise.all(replies.map((markdown, n) => ask(rooms[n]!).finish(result(text(markdown)))));
  for (const [n, markdown] of replies.entries())
    expect(server.replies(rooms[n]!).map((one) => one.text.trim())).toEqual(toMessages(markdown).map((each) => each.trim()));
});
