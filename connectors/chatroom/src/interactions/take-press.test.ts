import { CoreError, ServiceError } from '@svc/connector-kit';
import type { ErrorCode } from '@svc/contract/error-body.ts';
import { expect, test, vi } from 'vitest';
import type { Respond } from './respond.ts';
import { takePress } from './take-press.ts';

const press = {
  interaction: { id: '1', token: 't' },
  button: 'ask:ask_1:2',
  as: { channel: 'chatroom', sender: { raw_id: '7' } },
  conversationKey: 'chatroom:inst_1:channel:5',
};

function open(answer: () => Promise<unknown>) {
  const respond = { show: vi.fn(), tell: vi.fn(async () => undefined), with: vi.fn(async () => undefined) };
  const core = { answer: vi.fn(answer) };
  const take = (button = press.button) =>
    takePress({ core: core as never, respond: respond as unknown as Respond, log: () => undefined }, { ...press, button });
  return { respond, core, take };
}

test('answers with the number of the button', async () => {
  const { core, respond, take } = open(async () => ({ ask_id: 'ask_1', option: 'no', label: 'No' }));
  await take();
  expect(core.answer).toHaveBeenCalledWith('ask_1', { as: press.as, conversation_key: press.conversationKey, text: '2' });
  expect(respond.with).toHaveBeenCalledWith(press.interaction, { type: 6 });
});

test.each<[ErrorCode, RegExp]>([
  ['forbidden', /another person/],
  ['conflict', /over/],
  ['not_found', /over/],
])('shows a refusal (%s) only to the person who pressed', async (code, words) => {
  const { respond, take } = open(async () => Promise.reject(new CoreError(code, 'no', { mayHaveRun: false })));
  await take();
  expect(respond.tell).toHaveBeenCalledWith(press.interaction, expect.stringMatching(words));
});

test('rejects a press while the core is unavailable, so that it is redelivered', async () => {
  const { take } = open(async () => Promise.reject(new CoreError('unavailable', 'away', { mayHaveRun: false })));
  await expect(take()).rejects.toMatchObject({ code: 'unavailable' });
});

test('ignores a failed response to Discord', async () => {
  const { respond, take } = open(async () => ({}));
  respond.with.mockRejectedValue(new ServiceError('not_found', 'Unknown interaction'));
  await take();
});

test.each(['', 'ask:', 'ask:ask_1', 'ask:ask_1:0x1', 'ask:a/b:1', 'other:1:1'])(
  'rejects the invalid button id %j',
  async (button) => {
    const { core, respond, take } = open(async () => ({}));
    await take(button);
    expect(core.answer).not.toHaveBeenCalled();
    expect(respond.tell).toHaveBeenCalledOnce();
  },
);
