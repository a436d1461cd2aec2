import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMentionMatcher, ownWords } from './is-mentioned.ts';

const isMentioned = createMentionMatcher('@assistant');

test.each([
  '@assistant look',
  'look, @Assistant.',
  'Could (@assistant) say?',
  '**@assistant** look',
  '- a list\n- with @assistant in it',
  '# @assistant',
  '| a | b |\n|---|---|\n| @assistant | c |',
  "@assistant's turn",
  'see `code` @assistant `more`',
  '> quoted\n\n@assistant what of it?',
  '```\ncode\n```\n@assistant what of it?',
  '@assistant: a\n<!-- hidden -->',
  `${'a line of a log\n'.repeat(3000)}\n@assistant what of it?`,
  'a\r\n@assistant\r\nb',
  '~~old~~ @assistant',
  'https://example.com @assistant',
  'en @assistant, あ @assistant',
  '_@assistant_ look',
  '__@assistant__',
  '你好@assistant请看',
  'ねえ@assistantさん',
  '@assistant에게 물어봐',
  'ถาม@assistantหน่อย',
])('%j is a mention', (text) => {
  expect(isMentioned(text)).toBe(true);
});

test.each([
  'nothing',
  '`@assistant`',
  '``a ` @assistant``',
  '```\n@assistant\n```',
  '~~~~\n```\n@assistant\n~~~~',
  '    @assistant in indented code',
  '> @assistant',
  '> a\n> > @assistant',
  '> a\n@assistant goes on lazily',
  '- > @assistant in a quote of a list',
  '- a\n\n  ```\n  @assistant\n  ```',
  '[@assistant](https://example.com)',
  '[a](https://example.com "@assistant")',
  '![@assistant](https://example.com/a.png)',
  '<https://example.com/@assistant>',
  'https://example.com/@assistant',
  'https://example.com/?a=@assistant',
  'mail ann@assistant.example',
  'ann@assistant',
  '@assistants',
  '@assistant-two',
  '@assistant_two',
  '@assistant/team',
  '@assistant.example',
  'x@assistant',
  '@@assistant',
  'é@assistant',
  '@assistanté',
  '请@assistant-two',
  '@assistant_two_',
  '<!-- @assistant -->',
  'a <!-- @assistant --> b',
  '<!-- @assistant never ends',
  '<details>\n@assistant\n</details>',
  '<img alt="@assistant" src="x">',
  'a <img alt="@assistant"> b',
  'a <code>@assistant</code> b',
  'a <a href="x">@assistant</a> b',
  '<pre>\n@assistant\n</pre>',
  '~~@assistant~~',
  '[ref]: https://example.com "@assistant"',
  '&#64;assistant',
  '\u0040\u200bassistant',
  '@\u0430ssistant',
])('%j is not a mention', (text) => {
  expect(isMentioned(text)).toBe(false);
});

test.each(['/ask', 'hey bot', '!', '$x', 'c++', '(a|b)', '@名前'])('the token may be %j', (token) => {
  const calls = createMentionMatcher(token);
  expect([calls(`well ${token} then`), calls('well then'), calls(`\`${token}\``)]).toEqual([true, false, false]);
});

test('a token in a script without spaces does not match within a longer word', () => {
  const calls = createMentionMatcher('@名前');
  expect([calls('@名前, 見て'), calls('@名前x'), calls('@名前空間')]).toEqual([true, false, false]);
});

test('ignores any text within code, quotes and comments', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '\n', '*', '_', '[', ']', '(', ')', '<', '>', '@assistant', '#', '|', '-', '1.'),
  });
  fc.assert(
    fc.property(text, (words) => {
      const line = words.replaceAll('\n', ' ');
      expect(isMentioned(`a\n\n\`\`\`\n${words}\n\`\`\`\n`)).toBe(false);
      expect(isMentioned(`a\n\n<!--\n${words}x\n`)).toBe(false);
      expect(isMentioned(`> a ${line}`)).toBe(false);
      expect(isMentioned(`a \`x ${line} x\` b`)).toBe(false);
    }),
  );
});

test('takes little time for any text', () => {
  for (const piece of ['*', '_a ', '[', '<', '`', '> ', '- ', '<!--', '@assistant ', '![](', '| ', '&', '1. '])
    for (const length of [20_000, 65_000]) {
      const began = performance.now();
      isMentioned(`@assistant ${piece.repeat(length / piece.length)}`);
      expect(performance.now() - began).toBeLessThan(5000);
    }
});

test('ownWords() omits quotes and code', () => {
  expect(ownWords('close it\n> reopen it\n\n`label` it')).not.toMatch(/reopen|label/);
});
