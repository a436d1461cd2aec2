import { expect, test } from 'vitest';
import { senderOf } from './sender-of.ts';

const author = { id: '7', username: 'ann', discriminator: '0', global_name: null, avatar: null };
const said = (over: object) => senderOf({ author, ...over });

test('a message is of its author, and the answer of a bot to a command is the bot’s', () => {
  expect(said({})).toEqual({ raw_id: '7', raw_username: 'ann' });
  const bot = { ...author, bot: true };
  expect(said({ author: bot, webhook_id: '9', application_id: '9' })).toEqual({ raw_id: '7', raw_username: 'ann', is_bot: true });
});

test('what a webhook says is of the webhook, whatever name it uses and whoever owns it', () => {
  for (const over of [{}, { application_id: null }, { application_id: '5' }])
    expect(said({ webhook_id: '9', ...over })).toEqual({ raw_id: 'webhook:9', raw_username: 'ann', is_bot: true });
});
