import { expect, test } from 'vitest';
import { senderOf } from './sender-of.ts';

const author = { id: '7', username: 'ann', discriminator: '0', global_name: null, avatar: null };
const said = (over: object) => senderOf({ author, ...over });

test("the sender of a message is its author, also for a bot's answer to a command", () => {
  expect(said({})).toEqual({ raw_id: '7', raw_username: 'ann' });
  const bot = { ...author, bot: true };
  expect(said({ author: bot, webhook_id: '9', application_id: '9' })).toEqual({ raw_id: '7', raw_username: 'ann', is_bot: true });
});

test('the sender of a webhook message is the webhook, whatever its name and owner', () => {
  for (const over of [{}, { application_id: null }, { application_id: '5' }])
    expect(said({ webhook_id: '9', ...over })).toEqual({ raw_id: 'webhook:9', raw_username: 'ann', is_bot: true });
});
