import { Bot, InputFile } from 'grammy';
import { afterEach, describe, expect, test } from 'vitest';
import { refusalOf, textsIn, useTrial } from './use-trial.ts';

const trial = useTrial();

describe('real client library', () => {
  test('identifies itself, polls, answers, edits and deletes', async () => {
    const bot = new Bot(trial.server.token, { client: { apiRoot: trial.server.apiRoot } });
    bot.command('start', async (ctx) => {
      const sent = await ctx.reply(`hello ${ctx.match}`, { reply_parameters: { message_id: ctx.msg.message_id } });
      await trial.api.editMessageText(trial.ann.id, sent.message_id, 'hello <b>you</b>', { parse_mode: 'HTML' });
      await ctx.reply('bye');
    });
    const running = bot.start({ timeout: 5 });
    const said = trial.server.say({ from: trial.ann, text: '/start CODE' });
    await expect.poll(() => trial.server.replies(trial.ann.id).length).toBe(2);
    await bot.stop();
    await running;
    expect(trial.server.replies(trial.ann.id)).toMatchObject([
      {
        text: 'hello you',
        before: ['hello CODE'],
        replyTo: said.message_id,
        entities: [{ type: 'bold', offset: 6, length: 3 }],
      },
      { text: 'bye', replyTo: undefined },
    ]);
    expect(bot.botInfo).toMatchObject({ username: 'the_test_bot', can_read_all_group_messages: true });
    expect(await trial.api.deleteMessage(trial.ann.id, trial.server.replies(trial.ann.id)[1]?.id ?? 0)).toBe(true);
    expect(textsIn(trial.server, trial.ann.id)).toEqual(['/start CODE', 'hello you', '(bye)']);
  });

  test('sends files of all kinds, and downloads those that people send', async () => {
    await trial.api.sendPhoto(trial.ann.id, new InputFile(Buffer.from('jpg'), 'a photo "x".jpg'), {
      caption: '<i>look</i>',
      parse_mode: 'HTML',
    });
    await trial.api.sendDocument(trial.ann.id, new InputFile(Buffer.from('text'), 'notes.txt'), {
      caption: 'x\r\ny',
      caption_entities: [{ type: 'bold', offset: 0, length: 1 }],
    });
    await trial.api.sendVoice(trial.ann.id, new InputFile(Buffer.from('ogg'), 'v.ogg'), { duration: 2 });
    await trial.api.sendMediaGroup(trial.ann.id, [
      { type: 'photo', media: new InputFile(Buffer.from('1'), '1.jpg'), caption: 'album' },
      { type: 'photo', media: new InputFile(Buffer.from('2'), '2.jpg') },
    ]);
    const [photo, document, voice, first, second] = trial.server.messages(trial.ann.id);
    expect(photo).toMatchObject({ kinds: ['photo'], text: 'look', entities: [{ type: 'italic' }] });
    expect(document).toMatchObject({ kinds: ['document'], text: 'x\r\ny', entities: [{ type: 'bold' }] });
    expect(voice).toMatchObject({ kinds: ['voice'] });
    expect([first?.text, first?.album]).toEqual(['album', second?.album]);
    await trial.api.sendDocument(trial.ann.id, document?.fileId ?? '');

    const sent = trial.server.sendDocument({ from: trial.ann, name: 'n.bin', bytes: Buffer.from([0, 255, 13, 10]) });
    const { file_path = '' } = await trial.api.getFile(sent.document?.file_id ?? '');
    const got = await fetch(`${trial.server.apiRoot}/file/bot${trial.server.token}/${file_path}`);
    expect(Buffer.from(await got.arrayBuffer())).toEqual(Buffer.from([0, 255, 13, 10]));
    const large = trial.server.sendDocument({ from: trial.ann, name: 'large', size: 20 * 1024 * 1024 + 1 });
    expect(await refusalOf(trial.api.getFile(large.document?.file_id ?? ''))).toBe('400 Bad Request: file is too big');
    expect(await refusalOf(trial.api.getFile('x'))).toBe('400 Bad Request: wrong file_id or the file is temporarily unavailable');
    expect((await fetch(`${trial.server.apiRoot}/file/bot${trial.server.token}/none`)).status).toBe(404);
  });

  test('gets all kinds of messages from people', async () => {
    const bytes = Buffer.from('x');
    trial.server.sendPhoto({ from: trial.ann, name: 'p.jpg', bytes, caption: 'see https://a.example/b, ann@a.example' });
    trial.server.sendAlbum({
      from: trial.ann,
      parts: [
        { kind: 'photo', name: '1.jpg', bytes },
        { kind: 'document', name: '2.txt', bytes },
      ],
    });
    trial.server.sendVoice({ from: trial.ann, bytes });
    trial.server.sendVideoNote({ from: trial.ann, bytes });
    trial.server.sendSticker({ from: trial.ann, emoji: '👍', set: 'Thumbs' });
    trial.server.sendLocation({ from: trial.ann, latitude: 52.5, longitude: 13.4 });
    const said = trial.server.say({ from: trial.ann, text: 'one' });
    trial.server.edit(said, 'two');
    trial.server.say({ from: trial.ann, text: 'quoting', replyTo: said.message_id, quote: 'tw' });
    trial.server.remove(said);
    trial.server.react(trial.server.say({ from: trial.ann, text: 'nice' }), trial.ann, '👍');
    const updates = await trial.api.getUpdates({ allowed_updates: [] });
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

describe('texts', () => {
  test.each([
    ['', 'message text is empty'],
    [' \n ', 'message text is empty'],
    ['x'.repeat(4097), 'message is too long'],
    ['x'.repeat(32_769), 'text is too long'],
    ['\u{d83d}', 'strings must be encoded in UTF-8'],
  ])('%j are rejected', async (text, description) => {
    expect(await refusalOf(trial.api.sendMessage(trial.ann.id, text))).toBe(`400 Bad Request: ${description}`);
  });

  test('are measured after parsing', async () => {
    await trial.api.sendMessage(trial.ann.id, `<b>${'&lt;'.repeat(4096)}</b>`, { parse_mode: 'HTML' });
    expect(trial.server.replies(trial.ann.id)[0]?.text).toBe('<'.repeat(4096));
    const caption = 'x'.repeat(1025);
    expect(await refusalOf(trial.api.sendDocument(trial.ann.id, new InputFile(Buffer.from('x'), 'x'), { caption }))).toBe(
      '400 Bad Request: message caption is too long',
    );
  });

  test('are rejected as an edit if unchanged', async () => {
    const { message_id } = await trial.api.sendMessage(trial.ann.id, 'same');
    expect(await refusalOf(trial.api.editMessageText(trial.ann.id, message_id, 'same'))).toMatch(
      '400 Bad Request: message is not modified: ',
    );
    expect(await refusalOf(trial.api.editMessageText(trial.ann.id, 9, 'x'))).toBe('400 Bad Request: message to edit not found');
    const { message_id: theirs } = trial.server.say({ from: trial.ann, text: 'mine' });
    expect(await refusalOf(trial.api.editMessageText(trial.ann.id, theirs, 'x'))).toBe(
      "400 Bad Request: message can't be edited",
    );
  });
});

describe('calls outside the API description', () => {
  afterEach(() => void trial.server.violations.splice(0));

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
  ])('are reported: %s', async (_, method, params, violations, answer) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ chat_id: trial.ann.id, ...params });
    const response = await fetch(`${trial.server.apiRoot}/bot${trial.server.token}/${method}`, { method: 'POST', headers, body });
    const { ok, description } = (await response.json()) as { ok: boolean; description?: string };
    expect([ok ? 'ok' : description, trial.server.violations]).toEqual([answer, violations]);
  });
});

test('accepts parameters in the URL and in a form, and rejects a wrong token', async () => {
  const url = `${trial.server.apiRoot}/bot${trial.server.token}/sendmessage`;
  await fetch(`${url}?chat_id=${trial.ann.id}&text=address&disable_notification=true`);
  const entities = JSON.stringify([{ type: 'bold', offset: 0, length: 1 }]);
  await fetch(url, { method: 'POST', body: new URLSearchParams({ chat_id: String(trial.ann.id), text: 'form', entities }) });
  expect(textsIn(trial.server, trial.ann.id)).toEqual(['address', 'form']);
  const other = new Bot('1:wrong', { client: { apiRoot: trial.server.apiRoot } });
  expect(await refusalOf(other.api.getMe())).toBe('401 Unauthorized');
});
