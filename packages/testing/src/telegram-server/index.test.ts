import { Bot, GrammyError, InputFile, type Api } from 'grammy';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock } from '../fake-clock.ts';
import { createRandom } from '../random.ts';
import { startTelegramServer, type TelegramServer, type TelegramServerOptions } from './index.ts';
import type { TelegramUser } from './api-types.ts';
import { randomFaults } from './telegram-faults.ts';

let server: TelegramServer;
let api: Api;
let ann: TelegramUser;

async function open(options?: TelegramServerOptions): Promise<void> {
  server = await startTelegramServer(options);
  api = new Bot(server.token, { client: { apiRoot: server.apiRoot } }).api;
  ann = server.person('Ann', { username: 'ann_b' });
}

beforeEach(() => open());
afterEach(async () => {
  await server.close();
  expect(server.violations).toEqual([]);
});

const refusalOf = async (asked: Promise<unknown>): Promise<string> => {
  const error: unknown = await asked.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof GrammyError ? `${error.error_code} ${error.description}` : String(error);
};
const seen = (chat: number) => server.messages(chat).map(({ text, isDeleted }) => (isDeleted ? `(${text})` : text));

describe('the real library', () => {
  test('knows itself, polls, answers, edits and deletes', async () => {
    const bot = new Bot(server.token, { client: { apiRoot: server.apiRoot } });
    bot.command('start', async (ctx) => {
      const sent = await ctx.reply(`hello ${ctx.match}`, { reply_parameters: { message_id: ctx.msg.message_id } });
      await api.editMessageText(ann.id, sent.message_id, 'hello <b>you</b>', { parse_mode: 'HTML' });
      await ctx.reply('bye');
    });
    const running = bot.start({ timeout: 5 });
    const said = server.say({ from: ann, text: '/start CODE' });
    await expect.poll(() => server.replies(ann.id).length).toBe(2);
    await bot.stop();
    await running;
    expect(server.replies(ann.id)).toMatchObject([
      {
        text: 'hello you',
        before: ['hello CODE'],
        replyTo: said.message_id,
        entities: [{ type: 'bold', offset: 6, length: 3 }],
      },
      { text: 'bye', replyTo: undefined },
    ]);
    expect(bot.botInfo).toMatchObject({ username: 'the_test_bot', can_read_all_group_messages: true });
    expect(await api.deleteMessage(ann.id, server.replies(ann.id)[1]?.id ?? 0)).toBe(true);
    expect(seen(ann.id)).toEqual(['/start CODE', 'hello you', '(bye)']);
  });

  test('sends files of all kinds by multipart, and gets those that people send', async () => {
    await api.sendPhoto(ann.id, new InputFile(Buffer.from('jpg'), 'a photo "x".jpg'), {
      caption: '<i>look</i>',
      parse_mode: 'HTML',
    });
    await api.sendDocument(ann.id, new InputFile(Buffer.from('text'), 'notes.txt'), {
      caption: 'x\r\ny',
      caption_entities: [{ type: 'bold', offset: 0, length: 1 }],
    });
    await api.sendVoice(ann.id, new InputFile(Buffer.from('ogg'), 'v.ogg'), { duration: 2 });
    await api.sendMediaGroup(ann.id, [
      { type: 'photo', media: new InputFile(Buffer.from('1'), '1.jpg'), caption: 'album' },
      { type: 'photo', media: new InputFile(Buffer.from('2'), '2.jpg') },
    ]);
    const [photo, document, voice, first, second] = server.messages(ann.id);
    expect(photo).toMatchObject({ kinds: ['photo'], text: 'look', entities: [{ type: 'italic' }] });
    expect(document).toMatchObject({ kinds: ['document'], text: 'x\r\ny', entities: [{ type: 'bold' }] });
    expect(voice).toMatchObject({ kinds: ['voice'] });
    expect([first?.text, first?.album]).toEqual(['album', second?.album]);
    await api.sendDocument(ann.id, document?.fileId ?? '');

    const sent = server.sendDocument({ from: ann, name: 'n.bin', bytes: Buffer.from([0, 255, 13, 10]) });
    const { file_path = '' } = await api.getFile(sent.document?.file_id ?? '');
    const got = await fetch(`${server.apiRoot}/file/bot${server.token}/${file_path}`);
    expect(Buffer.from(await got.arrayBuffer())).toEqual(Buffer.from([0, 255, 13, 10]));
    const large = server.sendDocument({ from: ann, name: 'large', size: 20 * 1024 * 1024 + 1 });
    expect(await refusalOf(api.getFile(large.document?.file_id ?? ''))).toBe('400 Bad Request: file is too big');
    expect(await refusalOf(api.getFile('x'))).toBe('400 Bad Request: wrong file_id or the file is temporarily unavailable');
    expect((await fetch(`${server.apiRoot}/file/bot${server.token}/none`)).status).toBe(404);
  });

  test('gets all that people send', async () => {
    const bytes = Buffer.from('x');
    server.sendPhoto({ from: ann, name: 'p.jpg', bytes, caption: 'see https://a.example/b, ann@a.example' });
    server.sendAlbum({
      from: ann,
      parts: [
        { kind: 'photo', name: '1.jpg', bytes },
        { kind: 'document', name: '2.txt', bytes },
      ],
    });
    server.sendVoice({ from: ann, bytes });
    server.sendVideoNote({ from: ann, bytes });
    server.sendSticker({ from: ann, emoji: '👍', set: 'Thumbs' });
    server.sendLocation({ from: ann, latitude: 52.5, longitude: 13.4 });
    const said = server.say({ from: ann, text: 'one' });
    server.edit(said, 'two');
    server.say({ from: ann, text: 'quoting', replyTo: said.message_id, quote: 'tw' });
    server.remove(said);
    server.react(server.say({ from: ann, text: 'nice' }), ann, '👍');
    const updates = await api.getUpdates({ allowed_updates: [] });
    expect(updates.map((update) => Object.keys(update)[1])).toEqual([
      ...Array(8).fill('message'),
      'edited_message',
      'message',
      'message',
    ]);
    expect(updates[0]?.message?.caption_entities?.map(({ type, length }) => [type, length])).toEqual([
      ['url', 19],
      ['email', 13],
    ]);
    expect(updates[9]?.message).toMatchObject({ reply_to_message: { text: 'two' }, quote: { text: 'tw' } });
  });
});

describe('updates', () => {
  test('stay until they are confirmed, also for one who asks for the last ones', async () => {
    for (const text of ['a', 'b', 'c']) server.say({ from: ann, text });
    const texts = async (offset?: number) => (await api.getUpdates({ offset })).map(({ message }) => message?.text);
    expect([await texts(), await texts()]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    const [first] = await api.getUpdates();
    expect(await texts((first?.update_id ?? 0) + 1)).toEqual(['b', 'c']);
    expect(await texts(-1)).toEqual(['c']);
    expect(await texts()).toEqual(['c']);
  });

  test('are waited for, by one poll at a time', async () => {
    const before = api.getUpdates({ timeout: 20 });
    const refused = refusalOf(before);
    await expect.poll(() => server.calls.length).toBe(1);
    const after = api.getUpdates({ timeout: 20 });
    expect(await refused).toBe(
      '409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    );
    server.say({ from: ann, text: 'now' });
    expect(await after).toMatchObject([{ message: { text: 'now' } }]);
  });

  test('come only of the kinds that are wanted', async () => {
    await api.getUpdates({ allowed_updates: ['message_reaction'] });
    const said = server.say({ from: ann, text: 'unwanted' });
    server.react(said, ann, '🔥');
    server.react(said, ann);
    const updates = await api.getUpdates();
    expect(updates).toMatchObject([
      { message_reaction: { user: ann, old_reaction: [], new_reaction: [{ emoji: '🔥' }] } },
      { message_reaction: { new_reaction: [] } },
    ]);
  });

  test('come twice and out of order when the test wants that', async () => {
    await server.close();
    await open({ updateFaults: { random: () => 0, twice: 1, outOfOrder: 1 } });
    for (const text of ['a', 'b']) server.say({ from: ann, text });
    const texts = async (offset?: number) => (await api.getUpdates({ offset })).map(({ message }) => message?.text);
    expect(await texts()).toEqual(['b', 'b', 'a', 'a']);
  });
});

describe('texts', () => {
  test.each([
    ['', 'message text is empty'],
    [' \n ', 'message text is empty'],
    ['x'.repeat(4097), 'message is too long'],
    ['x'.repeat(32_769), 'text is too long'],
    ['\u{d83d}', 'strings must be encoded in UTF-8'],
  ])('%j are refused', async (text, description) => {
    expect(await refusalOf(api.sendMessage(ann.id, text))).toBe(`400 Bad Request: ${description}`);
  });

  test('are measured after parsing', async () => {
    await api.sendMessage(ann.id, `<b>${'&lt;'.repeat(4096)}</b>`, { parse_mode: 'HTML' });
    expect(server.replies(ann.id)[0]?.text).toBe('<'.repeat(4096));
    const caption = 'x'.repeat(1025);
    expect(await refusalOf(api.sendDocument(ann.id, new InputFile(Buffer.from('x'), 'x'), { caption }))).toBe(
      '400 Bad Request: message caption is too long',
    );
  });

  test('that are the same are no edit', async () => {
    const { message_id } = await api.sendMessage(ann.id, 'same');
    expect(await refusalOf(api.editMessageText(ann.id, message_id, 'same'))).toMatch(
      '400 Bad Request: message is not modified: ',
    );
    expect(await refusalOf(api.editMessageText(ann.id, 9, 'x'))).toBe('400 Bad Request: message to edit not found');
    const { message_id: theirs } = server.say({ from: ann, text: 'mine' });
    expect(await refusalOf(api.editMessageText(ann.id, theirs, 'x'))).toBe("400 Bad Request: message can't be edited");
  });
});

describe('buttons', () => {
  test('are shown, pressed, answered once and taken away by an edit that names none', async () => {
    const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }], [{ text: 'No', callback_data: 'n' }]] };
    const sent = await api.sendMessage(ann.id, 'Sure?', { reply_markup });
    const press = server.press(sent as never, ann, 'Yes');
    const [update] = (await api.getUpdates()).slice(-1);
    expect(update?.callback_query).toMatchObject({ data: 'y', from: ann, message: { text: 'Sure?' } });
    await api.answerCallbackQuery(press.id, { text: 'Thanks' });
    expect(press.answer).toEqual({ text: 'Thanks' });
    expect(await refusalOf(api.answerCallbackQuery(press.id))).toMatch('query is too old');
    await api.editMessageReplyMarkup(ann.id, sent.message_id);
    expect(server.replies(ann.id)[0]?.buttons).toEqual([]);
    expect(() => server.press(sent as never, ann, 'Yes')).toThrow('no button Yes');
    const tooLong = { inline_keyboard: [[{ text: 'x', callback_data: 'é'.repeat(33) }]] };
    expect(await refusalOf(api.sendMessage(ann.id, 'x', { reply_markup: tooLong }))).toMatch('BUTTON_DATA_INVALID');
  });
});

describe('chats', () => {
  test('have topics, whose messages answer what opened them', async () => {
    const { id } = server.supergroup('Work', [ann], true);
    const thread = server.openTopic(id, ann, 'Plans');
    server.say({ from: ann, chat: id, thread, text: 'hi' });
    const [said] = (await api.getUpdates()).slice(-1);
    expect(said?.message).toMatchObject({ message_thread_id: thread, is_topic_message: true, chat: { is_forum: true } });
    expect(said?.message?.reply_to_message).toMatchObject({ forum_topic_created: { name: 'Plans' } });
    await api.sendMessage(id, 'in it', { message_thread_id: thread });
    expect(server.replies(id, thread)).toMatchObject([{ text: 'in it', replyTo: undefined }]);
    expect(await refusalOf(api.sendMessage(id, 'x', { message_thread_id: 99 }))).toBe(
      '400 Bad Request: message thread not found',
    );
    server.closeTopic(id, thread);
    expect(await refusalOf(api.sendMessage(id, 'x', { message_thread_id: thread }))).toBe('400 Bad Request: TOPIC_CLOSED');
  });

  test('become supergroups with another id', async () => {
    const { id } = server.group('Family', [ann]);
    const next = server.migrate(id, ann);
    const error: unknown = await api.sendMessage(id, 'x').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ error_code: 400, parameters: { migrate_to_chat_id: next.id } });
    const updates = await api.getUpdates();
    expect(updates.slice(-2)).toMatchObject([
      { message: { chat: { id }, migrate_to_chat_id: next.id } },
      { message: { chat: { id: next.id }, migrate_from_chat_id: id } },
    ]);
    await api.sendMessage(next.id, 'y');
    expect(seen(next.id)).toEqual(['', 'y']);
  });

  test('can be closed to the bot', async () => {
    server.block(ann);
    expect(await refusalOf(api.sendMessage(ann.id, 'x'))).toBe('403 Forbidden: bot was blocked by the user');
    server.unblock(ann);
    await api.sendMessage(ann.id, 'x');
    const { id } = server.group('Family', [ann]);
    server.kick(id, ann);
    expect(await refusalOf(api.sendMessage(id, 'x'))).toBe('403 Forbidden: bot was kicked from the group chat');
    expect(await refusalOf(api.sendMessage(12, 'x'))).toBe('400 Bad Request: chat not found');
    const kinds = (await api.getUpdates()).map(({ my_chat_member: m }) => m?.new_chat_member.status);
    expect(kinds).toEqual(['kicked', 'member', 'member', 'kicked']);
  });

  test('of a bot with privacy on show it only what is for it', async () => {
    await server.close();
    await open({ readsAllMessages: false });
    const { id } = server.group('Family', [ann]);
    const { message_id } = await api.sendMessage(id, 'from the bot');
    for (const text of ['talk', '/help', 'hey @the_test_bot']) server.say({ from: ann, chat: id, text });
    server.say({ from: ann, chat: id, text: 'a reply', replyTo: message_id });
    const texts = (await api.getUpdates()).flatMap(({ message }) => message?.text ?? []);
    expect(texts).toEqual(['/help', 'hey @the_test_bot', 'a reply']);
  });

  test('show replies, reactions, actions and drafts', async () => {
    const said = server.say({ from: ann, text: 'hi' });
    await api.sendChatAction(ann.id, 'typing');
    await api.setMessageReaction(ann.id, said.message_id, [{ type: 'emoji', emoji: '👀' }]);
    await api.raw.sendMessageDraft({ chat_id: ann.id, draft_id: 1, text: 'so far' });
    expect([server.actions(ann.id), server.drafts(ann.id), server.messages(ann.id)[0]?.reactions]).toEqual([
      ['typing'],
      ['so far'],
      ['👀'],
    ]);
    await api.sendMessage(ann.id, 'done', { reply_parameters: { message_id: said.message_id } });
    expect([server.drafts(ann.id), server.replies(ann.id)[0]?.replyTo]).toEqual([[], said.message_id]);
    expect(await refusalOf(api.sendMessage(ann.id, 'x', { reply_parameters: { message_id: 9 } }))).toBe(
      '400 Bad Request: message to be replied not found',
    );
    await api.sendMessage(ann.id, 'x', { reply_parameters: { message_id: 9, allow_sending_without_reply: true } });
    const wrong = [{ type: 'emoji' as const, emoji: '🐌' as '👀' }];
    expect(await refusalOf(api.setMessageReaction(ann.id, said.message_id, wrong))).toMatch('REACTION_INVALID');
  });

  test('have no drafts on an older server', async () => {
    await server.close();
    await open({ hasDrafts: false });
    expect(await refusalOf(api.raw.sendMessageDraft({ chat_id: ann.id, draft_id: 1, text: 'x' }))).toBe('404 Not Found');
  });
});

test('commands are kept by their scope, and checked', async () => {
  const commands = [{ command: 'new', description: 'Begin again' }];
  await api.setMyCommands(commands, { scope: { type: 'all_private_chats' } });
  expect([await api.getMyCommands(), await api.getMyCommands({ scope: { type: 'all_private_chats' } })]).toEqual([[], commands]);
  expect(await refusalOf(api.setMyCommands([{ command: 'Not-this', description: 'x' }]))).toMatch('BOT_COMMAND_INVALID');
});

test('what is known of a chat can be asked for', async () => {
  expect(await api.getChat(ann.id)).toMatchObject({ id: ann.id, type: 'private', username: 'ann_b' });
  expect(await api.getChatMember(ann.id, ann.id)).toMatchObject({ status: 'member', user: ann });
});

describe('calls that the description does not allow', () => {
  afterEach(() => void server.violations.splice(0));

  test.each<[string, string, object, string[], string]>([
    ['parameters nobody knows', 'sendMessage', { text: 'x', parse_mod: 'HTML' }, ['sendMessage unknown: parse_mod'], 'ok'],
    ['missing parameters', 'sendMessage', {}, ['sendMessage missing: text'], 'Bad Request: message text is empty'],
    ['wrong types', 'sendMessage', { text: 5 }, ['sendMessage not String: text'], 'Bad Request: not String: text'],
    [
      'wrong types inside',
      'sendMessage',
      { text: 'x', entities: [{ type: 'bold', offset: 0, length: '1' }] },
      ['sendMessage not Integer: entities[0].length'],
      'Bad Request: not Integer: entities[0].length',
    ],
    ['methods nobody knows', 'sendMesage', { text: 'x' }, ['no method sendMesage'], 'Not Found'],
  ])('are noted: %s', async (_, method, params, violations, answer) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ chat_id: ann.id, ...params });
    const response = await fetch(`${server.apiRoot}/bot${server.token}/${method}`, { method: 'POST', headers, body });
    const { ok, description } = (await response.json()) as { ok: boolean; description?: string };
    expect([ok ? 'ok' : description, server.violations]).toEqual([answer, violations]);
  });
});

test('parameters come in the address or in a form too, and a token has to be right', async () => {
  const url = `${server.apiRoot}/bot${server.token}/sendmessage`;
  await fetch(`${url}?chat_id=${ann.id}&text=address&disable_notification=true`);
  const entities = JSON.stringify([{ type: 'bold', offset: 0, length: 1 }]);
  await fetch(url, { method: 'POST', body: new URLSearchParams({ chat_id: String(ann.id), text: 'form', entities }) });
  expect(seen(ann.id)).toEqual(['address', 'form']);
  const other = new Bot('1:wrong', { client: { apiRoot: server.apiRoot } });
  expect(await refusalOf(other.api.getMe())).toBe('401 Unauthorized');
});

describe('faults', () => {
  test('cut a request before or after its effect, and are given for the methods that the test names', async () => {
    server.failNext(/^sendMessage$/, 'cut before', 'cut after', { status: 502, when: 'before' }, { retryAfterS: 7 });
    const send = (text: string) => refusalOf(api.sendMessage(ann.id, text));
    const answers = [await send('1'), await send('2'), await send('3'), await send('4'), await send('5')];
    expect(answers.map((answer) => /HttpError|429|null/.exec(answer)?.[0])).toEqual([
      'HttpError',
      'HttpError',
      'HttpError',
      '429',
      'null',
    ]);
    expect(seen(ann.id)).toEqual(['2', '5']);
    expect(server.calls.map(({ status }) => status)).toEqual([null, 200, null, null, 200]);
  });

  test('come by chance, as a seed has them', async () => {
    const shares = { cutBefore: 0.1, errorBefore: 0.1, tooMany: 0.1 };
    server.fault = randomFaults(createRandom(3), shares);
    const answers: string[] = [];
    for (let n = 0; n < 40; n++) answers.push(await refusalOf(api.sendMessage(ann.id, String(n))));
    const kinds = Map.groupBy(answers, (answer) => /null|HttpError|429/.exec(answer)?.[0] ?? answer);
    expect([...kinds.keys()].toSorted()).toEqual(['429', 'HttpError', 'null']);
    expect(seen(ann.id)).toHaveLength(kinds.get('null')?.length ?? 0);
  });
});

describe('limits', () => {
  const clock = createFakeClock();
  beforeEach(async () => {
    await server.close();
    await open({ limits: { slackMs: 0 }, clock });
  });
  const send = (chat: number) => refusalOf(api.sendMessage(chat, 'x')).then((answer) => /null|retry after \d+/.exec(answer)?.[0]);

  test('take short bursts, then one message in each second of a chat; an impatient bot waits longer', async () => {
    const sent = [await send(ann.id), await send(ann.id), await send(ann.id), await send(ann.id), await send(ann.id)];
    expect(sent).toEqual(['null', 'null', 'null', 'retry after 3', 'retry after 6']);
    clock.advance(5999);
    expect(await send(ann.id)).toBe('retry after 12');
    clock.advance(12_000);
    expect(await send(ann.id)).toBe('null');
    expect(server.offences.map(({ limit }) => limit)).toEqual(['chat', 'penalty', 'penalty']);
  });

  test('take 20 messages in a minute of a group, edits and parts of albums too', async () => {
    const { id } = server.group('Family', [ann]);
    const { message_id } = await api.sendMessage(id, 'x');
    for (let n = 0; n < 18; n++) {
      clock.advance(1000);
      await api.editMessageText(id, message_id, String(n));
    }
    clock.advance(1000);
    const album = ['1', '2'].map((name) => ({ type: 'photo' as const, media: new InputFile(Buffer.from('x'), name) }));
    expect(await refusalOf(api.sendMediaGroup(id, album))).toMatch('retry after 41');
    clock.advance(42_000);
    expect(await send(id)).toBe('null');
  });

  test('take 30 messages in a second in all', async () => {
    const chats = Array.from({ length: 31 }, (_, n) => server.person(`P${n}`).id);
    const sent = await Promise.all(chats.map(send));
    expect(sent.filter((answer) => answer === 'null')).toHaveLength(30);
    expect(server.offences).toMatchObject([{ limit: 'bot' }]);
  });

  test('pass faster when time is scaled', async () => {
    await server.close();
    await open({ limits: { slackMs: 0 }, timeScale: 20, clock });
    for (let n = 0; n < 3; n++) await send(ann.id);
    const error: unknown = await api.sendMessage(ann.id, 'x').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ parameters: { retry_after: 0.15 } });
    clock.advance(150);
    expect(await send(ann.id)).toBe('null');
  });
});
