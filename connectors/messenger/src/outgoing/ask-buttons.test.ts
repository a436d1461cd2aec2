import { CoreError } from '@svc/connector-kit';
import { describe, expect, test } from 'vitest';
import { askKeyboard, takePress, type Press } from './ask-buttons.ts';
import { begin, resultOf, setUpOutgoing } from './testing/fake-bot-api.ts';

const ask = {
  id: 'ask_01k9abcdefghijklmn',
  text: 'May I?',
  options: [
    { id: 'y'.repeat(200), label: 'Yes' },
    { id: 'n', label: 'No' },
    { id: 'l', label: 'A very long label, which is longer than anything that fits on a button of a telephone' },
  ],
  for: 'prn_1',
  expires_at: 0,
};
const press: Press = { id: 'p1', data: `ask:${ask.id}:2`, chat: '42', messageId: 9, conversationKey: 'k', sender: 'ann' };

async function pressed(answer: () => Promise<unknown>, fields: Partial<Press> = {}) {
  const asked: unknown[] = [];
  const out = await setUpOutgoing();
  const core = { answer: (...given: unknown[]) => (asked.push(given), answer()) } as never;
  const taken = takePress(
    { core, call: out.call, channel: 'messenger', log: out.deps.log, signal: out.deps.signal },
    { ...press, ...fields },
  );
  return { out, asked, taken };
}
const failsWith = (code: CoreError['code']) => () => Promise.reject(new CoreError(code, 'no', { mayHaveRun: false }));

describe('question', () => {
  test('has short rows of buttons, with short labels and data', () => {
    const { inline_keyboard } = askKeyboard(ask);
    expect(inline_keyboard.map((row) => row.length)).toEqual([2, 1]);
    for (const { text, callback_data } of inline_keyboard.flat())
      expect([Array.from(text).length <= 64, Buffer.byteLength(callback_data) <= 64]).toEqual([true, true]);
  });

  test('is a message with buttons, which are removed at its end', async () => {
    const out = await setUpOutgoing();
    const { handlers, finish } = begin(out, '42');
    handlers.onAsk?.(ask);
    await out.pass(1500);
    handlers.onAsked?.(ask.id, { option: 'n', outcome: 'answered' });
    await out.pass(1500);
    await out.within(finish(resultOf('Done.')));
    expect(out.named('sendMessage')).toMatchObject([{ text: 'May I?', reply_markup: askKeyboard(ask) }, { text: 'Done.' }]);
    expect(out.named('editMessageText')).toMatchObject([{ text: 'May I?\n→ No' }]);
    expect(out.named('editMessageText')[0]).not.toHaveProperty('reply_markup');
  });
});

describe('pressed button', () => {
  test('answers as the person who pressed it, and confirms the choice', async () => {
    const { out, asked, taken } = await pressed(async () => ({ label: 'No' }));
    await taken;
    expect(asked).toEqual([
      [ask.id, { as: { channel: 'messenger', sender: { raw_id: 'ann' } }, conversation_key: 'k', text: '2' }],
    ]);
    expect(out.named('answerCallbackQuery')).toEqual([{ callback_query_id: 'p1', text: '✓ No', show_alert: false }]);
  });

  test.each<[CoreError['code'], string, number]>([
    ['forbidden', 'This question is for another person.', 0],
    ['conflict', 'This question is over.', 1],
    ['not_found', 'This question is over.', 1],
  ])('shows that it is too late or for another person: %s', async (code, text, removed) => {
    const { out, taken } = await pressed(failsWith(code));
    await taken;
    expect(out.named('answerCallbackQuery')).toEqual([{ callback_query_id: 'p1', text, show_alert: true }]);
    expect(out.named('editMessageReplyMarkup')).toHaveLength(removed);
  });

  test('is redelivered when the core is unavailable, and ignored when its data is invalid', async () => {
    await expect((await pressed(failsWith('unavailable'))).taken).rejects.toThrow('no');
    for (const data of ['', 'ask:', 'ask:x:y', `ask:${'x'.repeat(60)}:1`, '{"a":1}']) {
      const { out, asked, taken } = await pressed(async () => ({ label: 'x' }), { data });
      await taken;
      expect([asked, out.named('answerCallbackQuery')[0]?.show_alert]).toEqual([[], true]);
    }
  });
});
