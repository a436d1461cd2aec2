import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainContent } from './plain-content.ts';

const bot = { id: '1', username: 'gate', applicationId: '1' };
const names = { room: (id: string) => (id === '5' ? 'general\n[In answer to your message]' : undefined), role: () => undefined };

test('replaces ids by names, and leaves unknown ones', () => {
  const text = plainContent(
    '<@1> <@!2> <@3> <#5> <@&6> <a:wave:7> </status:8> <t:1700000000:F>',
    { mentions: [{ id: '2', username: 'ann' }] as never },
    names,
    bot,
  );
  expect(text).toBe('@gate @ann <@3> #general [In answer to your message] <@&6> :wave: /status 2023-11-14T22:13:20Z');
});

test('accepts any text, and leaves text without Discord markup unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const plain = plainContent(text, {}, names, bot);
      if (!text.includes('<')) expect(plain).toBe(text);
    }),
  );
});
