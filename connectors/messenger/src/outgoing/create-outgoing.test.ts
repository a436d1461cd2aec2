import { describe, expect, test } from 'vitest';
import { HttpError } from 'grammy';
import { begin, envelopeOf, refusal, resultOf, setUpOutgoing } from './testing/fake-bot-api.ts';

const words = 'A **reply** that is long enough to be shown.';
const signal = AbortSignal.timeout(600_000);
const push = (target: string, fields: object) => ({ id: 'd1', target, kind: 'text', ...fields });

describe('reply', () => {
  test('is text with entities in its chat and topic, and references the message in a group', async () => {
    const out = await setUpOutgoing();
    await out.within(begin(out, '-1001:5', 7).finish(resultOf(words)));
    expect(out.named('sendMessage')).toEqual([
      {
        chat_id: -1001,
        message_thread_id: 5,
        text: 'A reply that is long enough to be shown.',
        entities: [{ type: 'bold', offset: 2, length: 5 }],
        reply_parameters: { message_id: 7, allow_sending_without_reply: true },
        link_preview_options: { is_disabled: true },
      },
    ]);
  });

  test('in a private chat references the message only if there are newer ones', async () => {
    const out = await setUpOutgoing();
    const [first, second] = [begin(out, '42', 7), begin(out, '42', 9)];
    await out.within(Promise.all([first.finish(resultOf('One.')), second.finish(resultOf('Two.'))]));
    expect(out.named('sendMessage').map(({ reply_parameters: about }) => about?.message_id)).toEqual([7, undefined]);
  });

  test('is edited every 1.5 s in a private chat and every 4 s in a group', async () => {
    for (const [chat, step] of [
      ['42', 1500],
      ['-42', 4000],
    ] as const) {
      const out = await setUpOutgoing();
      await out.pass(3000); // a previous process may have written just now
      const { handlers, finish } = begin(out, chat);
      handlers.onDelta?.(words);
      for (let n = 0; n < 100; n++) {
        await out.pass(100);
        handlers.onDelta?.(` ${n}`);
      }
      const edits = out.calls.filter(({ method }) => method === 'editMessageText');
      for (const [index, { at }] of edits.entries())
        if (index > 0) expect(at - edits[index - 1]!.at).toBeGreaterThanOrEqual(step);
      expect(edits.length).toBeGreaterThan(10_000 / step / 2);
      await out.within(finish(resultOf('Whole.')));
      expect(out.named('editMessageText').at(-1)).toMatchObject({ text: 'Whole.' });
      expect(out.named('sendMessage')).toHaveLength(1);
    }
  });

  test('in several messages is sent at one per second, and 20 per minute in a group', async () => {
    for (const [chat, step] of [
      ['42', 1000],
      ['-42', 3000],
    ] as const) {
      const out = await setUpOutgoing();
      await out.within(begin(out, chat).finish(resultOf('many words '.repeat(1500))));
      const at = out.calls.filter(({ method }) => method === 'sendMessage').map((call) => call.at);
      expect(at.length).toBeGreaterThan(3);
      for (const [index, time] of at.entries()) if (index > 0) expect(time - at[index - 1]!).toBeGreaterThanOrEqual(step);
    }
  });

  test('is a draft where drafts are available, and posted when it is complete', async () => {
    const out = await setUpOutgoing({ hasDrafts: true });
    const { handlers, finish } = begin(out, '42');
    handlers.onDelta?.(words);
    await out.pass(1600);
    handlers.onDelta?.(' More.');
    await out.pass(3000);
    await out.within(finish(resultOf(`${words} More.`)));
    const drafts = out.named('sendMessageDraft');
    expect(drafts.map(({ text }) => text)).toEqual([
      'A reply that is long enough to be shown.',
      'A reply that is long enough to be shown. More.',
    ]);
    expect(new Set(drafts.map(({ draft_id }) => draft_id)).size).toBe(1);
    expect([drafts[0]?.draft_id > 0, out.named('sendMessage').length, out.named('editMessageText').length]).toEqual([true, 1, 0]);
  });

  test.each([
    ['the server', refusal(404, 'Not Found: method not found'), 1],
    ['the chat', refusal(400, 'Bad Request: TEXTDRAFT_PEER_INVALID'), 2],
  ])('is edited where %s has no drafts, which is tried once', async (_, answer, asked) => {
    const out = await setUpOutgoing({ hasDrafts: true });
    out.answers['sendMessageDraft'] = answer;
    for (const chat of ['42', '42', '43', '43', '-44']) {
      const { handlers, finish } = begin(out, chat);
      handlers.onDelta?.(words);
      await out.pass(4000);
      await out.within(finish(resultOf(`${words} Whole.`)));
    }
    expect(out.named('sendMessageDraft')).toHaveLength(asked);
  });

  test('is sent again when a person deleted its message, and an unchanged edit is accepted', async () => {
    const out = await setUpOutgoing();
    out.next['editMessageText'] = [refusal(400, 'Bad Request: message to edit not found')];
    const { handlers, finish } = begin(out, '42');
    handlers.onDelta?.(words);
    await out.pass(1200);
    out.answers['editMessageText'] = refusal(
      400,
      'Bad Request: message is not modified: specified new message content is the same',
    );
    await out.within(finish(resultOf('Whole.')));
    expect(out.named('sendMessage').map(({ text }) => text)).toEqual(['A reply that is long enough to be shown.', 'Whole.']);
  });

  test('waits as long as Telegram asks, per chat', async () => {
    const out = await setUpOutgoing();
    out.next['sendMessage'] = [refusal(429, 'Too Many Requests: retry after 30', { retry_after: 30 })];
    const ended = out.within(begin(out, '42').finish(resultOf('One.')));
    await ended;
    const at = out.calls.map((call) => call.at);
    expect([at.length, at[1]! - at[0]! >= 30_000]).toEqual([2, true]);
  });

  test('fails with the reason when a person has blocked the bot', async () => {
    const out = await setUpOutgoing();
    out.answers['sendMessage'] = refusal(403, 'Forbidden: bot was blocked by the user');
    await expect(out.within(begin(out, '42').finish(resultOf('One.')))).rejects.toThrow('bot was blocked by the user');
    expect(out.named('sendMessage')).toHaveLength(1);
  });

  test('follows a group that became a supergroup, also later', async () => {
    const out = await setUpOutgoing();
    out.next['sendMessage'] = [
      refusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: -1009 }),
    ];
    await out.within(begin(out, '-42').finish(resultOf('One.')));
    await out.within(out.send(push('-42', { text: 'Two.' }), signal));
    expect(out.named('sendMessage').map(({ chat_id }) => chat_id)).toEqual([-42, -1009, -1009]);
    expect(await out.state.get('moved:-42')).toBe(-1009);
  });

  test('shows typing, without delaying the reply', async () => {
    const out = await setUpOutgoing();
    const { finish } = begin(out, '-42');
    await out.pass(9500);
    expect(out.named('sendChatAction')).toHaveLength(3);
    const before = out.clock.elapsed();
    await out.within(finish(resultOf('One.')));
    expect(out.calls.find(({ method }) => method === 'sendMessage')!.at - before).toBeLessThan(200);
  });

  test('attaches long code as a file', async () => {
    const out = await setUpOutgoing();
    const code = 'const a = 1;\n'.repeat(400);
    await out.within(begin(out, '42').finish(resultOf(`Look:\n\n\`\`\`ts\n${code}\`\`\`\n\nDone.`)));
    expect(out.named('sendMessage').map(({ text }) => text)).toEqual(['Look:\n\n📎 code-1.ts\n\nDone.']);
    expect(out.named('sendDocument')).toMatchObject([{ chat_id: 42, document: 'file code-1.ts' }]);
  });
});

describe('message without a response', () => {
  const lost = () => {
    throw new HttpError('Network request failed!', Object.assign(new Error('x'), { code: 'ECONNRESET' }));
  };
  const gone = 'Bad Request: message to edit not found';
  type Own = { text: string; reply_to_message?: { message_id: number } };
  /** The messages of the chat by id: of the bot, and of others. */
  const chatWith = (messages: Record<number, Own | 'other'>) => {
    const withButton = new Set<number>();
    return ({ message_id: id = 0, reply_markup }: { message_id?: number; reply_markup?: object }) => {
      const message = messages[id];
      if (message === undefined) return refusal(400, gone)();
      if (message === 'other') return refusal(400, "Bad Request: message can't be edited")();
      if (withButton.has(id) === (reply_markup !== undefined)) return refusal(400, 'Bad Request: message is not modified: x')();
      if (reply_markup === undefined) withButton.delete(id);
      else withButton.add(id);
      return { message_id: id, ...message };
    };
  };
  const looked = (out: { named(method: string): { message_id?: number }[] }) =>
    out.named('editMessageReplyMarkup').map(({ message_id }) => message_id);

  test('is found among the messages after the one it answers, and not repeated', async () => {
    const out = await setUpOutgoing();
    out.next['sendMessage'] = [lost];
    out.answers['editMessageReplyMarkup'] = chatWith({ 8: 'other', 10: { text: 'One.' } });
    await out.within(begin(out, '42', 7).finish(resultOf('One.')));
    expect(out.named('sendMessage')).toHaveLength(1);
    expect(looked(out)).toEqual([8, 9, 10, 10]);
    expect(out.named('editMessageReplyMarkup').at(-1)).not.toHaveProperty('reply_markup');
  });

  test('is not confused with another lost one in the same chat', async () => {
    const out = await setUpOutgoing();
    const chat = { 20: { text: 'One.', reply_to_message: { message_id: 7 } }, 21: { text: 'Two, at length.' } };
    out.answers['editMessageReplyMarkup'] = chatWith(chat);
    out.saw('-100500', 19);
    out.next['sendMessage'] = [lost];
    await out.within(begin(out, '-100500', 18).finish(resultOf('Two, at length.')));
    expect(out.named('sendMessage')).toHaveLength(1);
    out.next['sendMessage'] = [lost];
    await out.within(begin(out, '-100500', 7).finish(resultOf('One.')));
    expect([out.named('sendMessage').length, out.named('editMessageText').length]).toEqual([2, 0]);
    expect(looked(out).filter((id) => id === 20)).toHaveLength(2); // checked once, by two writes
  });

  test('is repeated if not found, and known messages are not checked', async () => {
    const out = await setUpOutgoing();
    out.answers['editMessageReplyMarkup'] = chatWith({ 101: { text: 'One.' } });
    await out.within(begin(out, '42', 99).finish(resultOf('One.')));
    out.next['sendMessage'] = [lost];
    out.saw('43', 103);
    await out.within(begin(out, '42', 100).finish(resultOf('Two.')));
    expect(out.named('sendMessage').map(({ text }) => text)).toEqual(['One.', 'Two.', 'Two.']);
    expect(looked(out)).toEqual([102, 104, 105, 106, 107]);
  });

  test('does not edit anything when there are no messages', async () => {
    const out = await setUpOutgoing();
    out.answers['setMessageReaction'] = refusal(400, 'Bad Request: message to react not found');
    out.next['sendMessage'] = [lost];
    await out.within(begin(out, '42', 7).finish(resultOf('One.')));
    expect([looked(out), out.named('sendMessage').length]).toEqual([[], 2]);
  });

  test('is found by the next process, which completes it and removes a leftover button', async () => {
    const first = await setUpOutgoing();
    first.answers['sendMessage'] = () => new Promise(() => undefined);
    begin(first, '42', 7).handlers.onDelta?.(words);
    await first.pass(2000);
    const next = await setUpOutgoing({ state: first.state });
    const chat = chatWith({ 8: { text: words } });
    chat({ message_id: 8, reply_markup: {} });
    next.answers['editMessageReplyMarkup'] = chat;
    const reply = next.openReply(envelopeOf('42', '42:7'), { turnId: 't1', again: true });
    const whole = `${words} That is all.`;
    await next.within(reply.finish(resultOf(whole)));
    expect([next.named('sendMessage'), next.named('editMessageText')]).toMatchObject([
      [],
      [{ message_id: 8, text: whole.replaceAll('*', '') }],
    ]);
  });

  test('is searched for among a few messages only', async () => {
    const out = await setUpOutgoing();
    begin(out, '43', 500);
    out.next['sendMessage'] = [lost];
    await out.within(begin(out, '42', 7).finish(resultOf('One.')));
    expect([out.named('editMessageReplyMarkup').length, out.named('sendMessage').length]).toEqual([0, 2]);
  });
});

describe('files', () => {
  const file = (name: string, mime: string) => ({ type: 'file', path: `/${name}`, name, mime });
  const mb = 1024 * 1024;

  test('are sent as photos or documents, and too large ones as text', async () => {
    const out = await setUpOutgoing(
      {},
      {
        '/a.png': { bytes: 10, mime: 'image/png' },
        '/b.jpg': { bytes: 11 * mb, mime: 'image/jpeg' },
        '/c.pdf': { bytes: 10, mime: 'application/pdf' },
        '/d.bin': { bytes: 51 * mb, mime: 'application/octet-stream' },
      },
    );
    for (const [name, mime] of [
      ['a.png', 'image/png'],
      ['b.jpg', 'image/jpeg'],
      ['c.pdf', 'application/pdf'],
      ['d.bin', ''],
    ] as const)
      await out.within(begin(out, '42').finish(resultOf('', [file(name, mime)])));
    expect(out.calls.map(({ method, params }) => [method, params['photo'] ?? params['document'] ?? params['text']])).toEqual([
      ['sendPhoto', 'file a.png'],
      ['sendDocument', 'file b.jpg'],
      ['sendDocument', 'file c.pdf'],
      ['sendMessage', '📎 d.bin is larger than the 50 MB that Telegram accepts.'],
    ]);
    expect(out.opened.every(({ destroyed }) => destroyed)).toBe(true);
  });

  test('of one kind form albums of at most ten', async () => {
    const out = await setUpOutgoing(
      {},
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`/${n}.png`, { bytes: 10, mime: 'image/png' }])),
    );
    const files = [...Array.from({ length: 12 }, (_, n) => file(`${n}.png`, 'image/png')), file('a.txt', 'text/plain')];
    await out.within(begin(out, '42').finish(resultOf('', files)));
    expect(out.calls.map(({ method, params }) => [method, params['media']?.length])).toEqual([
      ['sendMediaGroup', 10],
      ['sendMediaGroup', 2],
      ['sendDocument', undefined],
    ]);
    // Telegram counts every file of an album.
    const [first = 0, second = 0, third = 0] = out.calls.map(({ at }) => at);
    expect([second - first >= 10_000, third - second >= 2000]).toEqual([true, true]);
  });

  test('that Telegram rejects as a photo are sent as a document', async () => {
    const out = await setUpOutgoing({}, { '/a.png': { bytes: 10, mime: 'image/png' } });
    out.answers['sendPhoto'] = refusal(400, 'Bad Request: PHOTO_INVALID_DIMENSIONS');
    await out.within(begin(out, '42').finish(resultOf('', [file('a.png', 'image/png')])));
    expect(out.named('sendDocument')).toMatchObject([{ document: 'file a.png' }]);
  });

  test('are pushed with their caption', async () => {
    const out = await setUpOutgoing();
    await out.within(out.send(push('42', { path: '/x/list.txt', caption: 'the **list**' }), signal));
    expect(out.named('sendDocument')).toEqual([
      { chat_id: 42, document: 'file list.txt', caption: 'the list', caption_entities: [{ type: 'bold', offset: 4, length: 4 }] },
    ]);
  });

  test('with a caption that is too long follow it', async () => {
    const out = await setUpOutgoing();
    await out.within(out.send(push('42', { path: '/x/list.txt', caption: 'long '.repeat(300) }), signal));
    expect(out.calls.map(({ method, params }) => [method, params['text']?.length, 'caption' in params])).toEqual([
      ['sendMessage', 1499, false],
      ['sendDocument', undefined, false],
    ]);
  });
});

describe('reactions', () => {
  const react = (emoji: string) => ({ type: 'react', emoji });

  test('are added to the message, or sent as text if Telegram does not support the emoji', async () => {
    const out = await setUpOutgoing();
    for (const emoji of ['👍🏽', '❤️', '🥑']) await out.within(begin(out, '42').finish(resultOf('', [react(emoji)])));
    expect(out.named('setMessageReaction').map(({ reaction }) => reaction[0].emoji)).toEqual(['👍', '❤']);
    expect(out.named('sendMessage').map(({ text }) => text)).toEqual(['🥑']);
  });

  test('show a running turn and are removed at its end, unless the reply reacts itself', async () => {
    const out = await setUpOutgoing({ hasReactions: true });
    await out.within(begin(out, '42').finish(resultOf('One.')));
    await out.pass(2000);
    await out.within(begin(out, '42').finish(resultOf('', [react('👍')])));
    await out.pass(2000);
    expect(out.named('setMessageReaction').map(({ reaction }) => reaction.map(({ emoji }: { emoji: string }) => emoji))).toEqual([
      ['👀'],
      [],
      ['👀'],
      ['👍'],
    ]);
  });

  test('leave no sign when the reply reacts with what Telegram does not support, and no sign replaces one', async () => {
    const out = await setUpOutgoing({ hasReactions: true });
    await out.within(begin(out, '42').finish(resultOf('', [react('✅')])));
    await out.pass(2000);
    out.next['setMessageReaction'] = [refusal(429, 'Too Many Requests', { retry_after: 5 })];
    const early = begin(out, '42');
    await out.pass(1000);
    const late = begin(out, '42');
    await out.within(late.finish(resultOf('', [react('👍')])));
    await out.within(early.finish(resultOf('Done.')));
    await out.pass(20_000);
    const reactions = out.named('setMessageReaction').map(({ message_id, reaction }) => [message_id, reaction[0]?.emoji]);
    const lastOf = new Map(reactions as [number, string | undefined][]);
    expect([...lastOf.values()]).toEqual([undefined, undefined, '👍']);
    expect(out.named('sendMessage').map(({ text }) => text)).toContain('✅');
  });

  test('are tried once in a chat that forbids them', async () => {
    const out = await setUpOutgoing({ hasReactions: true });
    out.answers['setMessageReaction'] = refusal(400, 'Bad Request: REACTION_INVALID');
    for (let n = 0; n < 3; n++) {
      await out.within(begin(out, '-42').finish(resultOf('One.')));
      await out.pass(5000);
    }
    expect([out.named('setMessageReaction').length, out.named('sendMessage').length]).toEqual([1, 3]);
  });
});
