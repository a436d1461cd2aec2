import { describe, expect, test } from 'vitest';
import { refusalOf, textsIn, useTrial } from './use-trial.ts';

const trial = useTrial();

describe('buttons', () => {
  test('are shown, pressed, answered once, and removed by an edit without them', async () => {
    const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }], [{ text: 'No', callback_data: 'n' }]] };
    const sent = await trial.api.sendMessage(trial.ann.id, 'Sure?', { reply_markup });
    const press = trial.server.press(sent as never, trial.ann, 'Yes');
    const [update] = (await trial.api.getUpdates()).slice(-1);
    expect(update?.callback_query).toMatchObject({ data: 'y', from: trial.ann, message: { text: 'Sure?' } });
    await trial.api.answerCallbackQuery(press.id, { text: 'Thanks' });
    expect(press.answer).toEqual({ text: 'Thanks' });
    expect(await refusalOf(trial.api.answerCallbackQuery(press.id))).toMatch('query is too old');
    await trial.api.editMessageReplyMarkup(trial.ann.id, sent.message_id);
    expect(trial.server.replies(trial.ann.id)[0]?.buttons).toEqual([]);
    expect(() => trial.server.press(sent as never, trial.ann, 'Yes')).toThrow('no button Yes');
    const tooLong = { inline_keyboard: [[{ text: 'x', callback_data: 'é'.repeat(33) }]] };
    expect(await refusalOf(trial.api.sendMessage(trial.ann.id, 'x', { reply_markup: tooLong }))).toMatch('BUTTON_DATA_INVALID');
  });
});

describe('chats', () => {
  test('can have topics', async () => {
    const { id } = trial.server.supergroup('Work', [trial.ann], true);
    const thread = trial.server.openTopic(id, trial.ann, 'Plans');
    trial.server.say({ from: trial.ann, chat: id, thread, text: 'hi' });
    const [said] = (await trial.api.getUpdates()).slice(-1);
    expect(said?.message).toMatchObject({ message_thread_id: thread, is_topic_message: true, chat: { is_forum: true } });
    expect(said?.message?.reply_to_message).toMatchObject({ forum_topic_created: { name: 'Plans' } });
    await trial.api.sendMessage(id, 'in it', { message_thread_id: thread });
    expect(trial.server.replies(id, thread)).toMatchObject([{ text: 'in it', replyTo: undefined }]);
    expect(await refusalOf(trial.api.sendMessage(id, 'x', { message_thread_id: 99 }))).toBe(
      '400 Bad Request: message thread not found',
    );
    trial.server.closeTopic(id, thread);
    expect(await refusalOf(trial.api.sendMessage(id, 'x', { message_thread_id: thread }))).toBe('400 Bad Request: TOPIC_CLOSED');
  });

  test('without topics have reply threads, which are not topics', async () => {
    const { id } = trial.server.supergroup('Family', [trial.ann]);
    const first = trial.server.say({ from: trial.ann, chat: id, text: 'one' });
    const reply = await trial.api.sendMessage(id, 'two', { reply_parameters: { message_id: first.message_id } });
    const again = trial.server.say({ from: trial.ann, chat: id, text: 'three', replyTo: reply.message_id });
    expect([reply.message_thread_id, again.message_thread_id, again.is_topic_message]).toEqual([1, 1, undefined]);
    expect(await refusalOf(trial.api.sendMessage(id, 'x', { message_thread_id: 1 }))).toMatch('message thread not found');
    expect(trial.server.replies(id)).toMatchObject([{ text: 'two', thread: undefined, replyTo: 1 }]);
  });

  test('migrate to supergroups with another id', async () => {
    const { id } = trial.server.group('Family', [trial.ann]);
    const next = trial.server.migrate(id, trial.ann);
    const error: unknown = await trial.api.sendMessage(id, 'x').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ error_code: 400, parameters: { migrate_to_chat_id: next.id } });
    const updates = await trial.api.getUpdates();
    expect(updates.slice(-2)).toMatchObject([
      { message: { chat: { id }, migrate_to_chat_id: next.id } },
      { message: { chat: { id: next.id }, migrate_from_chat_id: id } },
    ]);
    await trial.api.sendMessage(next.id, 'y');
    expect(textsIn(trial.server, next.id)).toEqual(['', 'y']);
  });

  test('can be closed to the bot', async () => {
    trial.server.block(trial.ann);
    expect(await refusalOf(trial.api.sendMessage(trial.ann.id, 'x'))).toBe('403 Forbidden: bot was blocked by the user');
    trial.server.unblock(trial.ann);
    await trial.api.sendMessage(trial.ann.id, 'x');
    const { id } = trial.server.group('Family', [trial.ann]);
    trial.server.kick(id, trial.ann);
    expect(await refusalOf(trial.api.sendMessage(id, 'x'))).toBe('403 Forbidden: bot was kicked from the group chat');
    expect(await refusalOf(trial.api.sendMessage(12, 'x'))).toBe('400 Bad Request: chat not found');
    const kinds = (await trial.api.getUpdates()).map(({ my_chat_member: m }) => m?.new_chat_member.status);
    expect(kinds).toEqual(['kicked', 'member', 'member', 'kicked']);
  });

  test('show a bot in privacy mode only messages for it', async () => {
    await trial.open({ readsAllMessages: false });
    const { id } = trial.server.group('Family', [trial.ann]);
    const { message_id } = await trial.api.sendMessage(id, 'from the bot');
    for (const text of ['talk', '/help', 'hey @the_test_bot']) trial.server.say({ from: trial.ann, chat: id, text });
    trial.server.say({ from: trial.ann, chat: id, text: 'a reply', replyTo: message_id });
    const texts = (await trial.api.getUpdates()).flatMap(({ message }) => message?.text ?? []);
    expect(texts).toEqual(['/help', 'hey @the_test_bot', 'a reply']);
  });

  test('show replies, reactions, actions and drafts', async () => {
    const said = trial.server.say({ from: trial.ann, text: 'hi' });
    await trial.api.sendChatAction(trial.ann.id, 'typing');
    await trial.api.setMessageReaction(trial.ann.id, said.message_id, [{ type: 'emoji', emoji: '👀' }]);
    await trial.api.raw.sendMessageDraft({ chat_id: trial.ann.id, draft_id: 1, text: 'so far' });
    expect([
      trial.server.actions(trial.ann.id),
      trial.server.drafts(trial.ann.id),
      trial.server.messages(trial.ann.id)[0]?.reactions,
    ]).toEqual([['typing'], ['so far'], ['👀']]);
    await trial.api.sendMessage(trial.ann.id, 'done', { reply_parameters: { message_id: said.message_id } });
    expect([trial.server.drafts(trial.ann.id), trial.server.replies(trial.ann.id)[0]?.replyTo]).toEqual([[], said.message_id]);
    expect(await refusalOf(trial.api.sendMessage(trial.ann.id, 'x', { reply_parameters: { message_id: 9 } }))).toBe(
      '400 Bad Request: message to be replied not found',
    );
    await trial.api.sendMessage(trial.ann.id, 'x', { reply_parameters: { message_id: 9, allow_sending_without_reply: true } });
    const wrong = [{ type: 'emoji' as const, emoji: '🐌' as '👀' }];
    expect(await refusalOf(trial.api.setMessageReaction(trial.ann.id, said.message_id, wrong))).toMatch('REACTION_INVALID');
  });

  test('have no drafts on an older server', async () => {
    await trial.open({ hasDrafts: false });
    expect(await refusalOf(trial.api.raw.sendMessageDraft({ chat_id: trial.ann.id, draft_id: 1, text: 'x' }))).toBe(
      '404 Not Found',
    );
  });
});

test('commands are stored per scope, and validated', async () => {
  const commands = [{ command: 'new', description: 'Begin again' }];
  await trial.api.setMyCommands(commands, { scope: { type: 'all_private_chats' } });
  expect([await trial.api.getMyCommands(), await trial.api.getMyCommands({ scope: { type: 'all_private_chats' } })]).toEqual([
    [],
    commands,
  ]);
  expect(await refusalOf(trial.api.setMyCommands([{ command: 'Not-this', description: 'x' }]))).toMatch('BOT_COMMAND_INVALID');
});

test('getChat() and getChatMember() return their data', async () => {
  expect(await trial.api.getChat(trial.ann.id)).toMatchObject({ id: trial.ann.id, type: 'private', username: 'ann_b' });
  expect(await trial.api.getChatMember(trial.ann.id, trial.ann.id)).toMatchObject({ status: 'member', user: trial.ann });
});
