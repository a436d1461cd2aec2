import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meta } from '../src/meta.ts';
import { parseMessage } from '../src/parse-message.ts';
import { toEnvelope } from '../src/to-envelope.ts';

test('the same user is the same conversation', () => {
  const keyOf = (user: string) => toEnvelope({ instanceId: 'i' }, parseMessage({ user, text: 'hi' })).conversation_key;
  assert.equal(keyOf('ann'), `${meta.type}:i:user:ann`);
  assert.equal(keyOf('ann'), keyOf('ann'));
  assert.notEqual(keyOf('ann'), keyOf('bob'));
});

test('a message keeps its id, and gets one when it has none', () => {
  const idOf = (body: object) => toEnvelope({ instanceId: 'i' }, parseMessage(body)).message_id;
  assert.equal(idOf({ id: 'm1', user: 'ann', text: 'hi' }), 'm1');
  assert.match(idOf({ user: 'ann', text: 'hi' }) ?? '', /\S/);
});

for (const body of [null, 'hi', {}, { user: 'ann' }, { text: 'hi' }, { user: ' ', text: 'hi' }, { user: 'ann', text: 7 }]) {
  test(`${JSON.stringify(body)} is refused`, () => {
    assert.throws(() => parseMessage(body), { code: 'bad_request' });
  });
}
