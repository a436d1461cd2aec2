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

test('the number of a button is the answer', async () => {
  const { core, respond, take } = open(async () => ({ ask_id: 'ask_1', option: 'no', label: 'No' }));
  await take();
  expect(core.answer).toHaveBeenCalledWith('ask_1', { as: press.as, conversation_key: press.conversationKey, text: '2' });
  expect(respond.with).toHaveBeenCalledWith(press.interaction, { type: 6 });
});

test.each<[ErrorCode, RegExp]>([
  ['forbidden', /another person/],
  ['conflict', /over/],
  ['not_found', /over/],
])('a person who may not answer (%s) is told so alone', async (code, words) => {
  const { respond, take } = open(async () => Promise.reject(new CoreError(code, 'no', { mayHaveRun: false })));
  await take();
  expect(respond.tell).toHaveBeenCalledWith(press.interaction, expect.stringMatching(words));
});

test('while the core is away a press is given again', async () => {
  const { take } = open(async () => Promise.reject(new CoreError('unavailable', 'away', { mayHaveRun: false })));
  await expect(take()).rejects.toMatchObject({ code: 'unavailable' });
});

test('that a person could not be told is no fault', async () => {
  const { respond, take } = open(async () => ({}));
  respond.with.mockRejectedValue(new ServiceError('not_found', 'Unknown interaction'));
  await take();
});

test.each(['', 'ask:', 'ask:ask_1', 'ask:ask_1:0x1', 'ask:a/b:1', 'other:1:1'])(
  'a button %j that is no answer means nothing',
  async (button) => {
    const { core, respond, take } = open(async () => ({}));
    await take(button);
    expect(core.answer).not.toHaveBeenCalled();
    expect(respond.tell).toHaveBeenCalledOnce();
  },
);
