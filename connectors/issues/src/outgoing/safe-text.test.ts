import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeText } from './safe-text.ts';

const shown = (text: string) => text.replaceAll('\u200b', '|');

test.each([
  ['as @eve says', 'as @|eve says'],
  ['@Ann, see @ann and @anna', '@Ann, see @ann and @|anna'],
  ['_@eve_ **@eve** (@eve) /@eve', '_@|eve_ **@|eve** (@|eve) /@|eve'],
  ['@org/team', '@|org/team'],
  ['\\@eve', '\\@|eve'],
  ['&#64;eve &#x40;eve &commat;eve', '&#64;|eve &#x40;|eve &commat;|eve'],
  ['`@Injectable()` and @eve', '`@Injectable()` and @|eve'],
  ['```ts\n@Component()\n```\n@eve', '```ts\n@Component()\n```\n@|eve'],
  ['- a\n  ```ts\n  @Component()\n  ```\n- @eve', '- a\n  ```ts\n  @|Component()\n  ```\n- @|eve'],
  ['an open ` @eve', 'an open ` @|eve'],
  ['mail ann@example.com', 'mail ann@example.com'],
  ['<b>@eve</b>', '<b>@|eve</b>'],
  ['<!-- svc:00 comment-1 -->', '<!--  svc:00 comment-1 -->'],
  ['> @eve', '> @|eve'],
])('writes %j as %j', (text, safe) => {
  expect(shown(safeText(text, 'ann'))).toBe(safe);
});

test('breaks every mention, and changes nothing else', () => {
  const text = fc.string({
    unit: fc.constantFrom('@eve', ' ', '\n', '`', '```', '*', '_', '- ', '> ', 'a', '@', '[', '](x)', '<b>'),
  });
  fc.assert(
    fc.property(text, (words) => {
      const safe = safeText(words, null);
      expect(safe.replaceAll('\u200b', '')).toBe(words);
      if (!words.includes('`')) expect(safe).not.toMatch(/(?<![A-Za-z0-9])@eve/);
    }),
  );
});

test.each([
  ['escaped', '\\`@bob\\` and `@bob\\`'],
  ['in HTML, and in a list', '<div>\n```\n@bob\n```\n</div>\n\n- a\n  ```\n  @bob\n  ```'],
  ['in HTML', '<div>`@bob`</div>\n\nand `@bob`'],
])('breaks mentions in text that only resembles code (%s)', (_how, text) => {
  expect(safeText(text, null)).not.toContain('@bob');
});

test('handles much code in little time', () => {
  const text = Array.from({ length: 6000 }, (_, index) => `\`@a${index}\``).join(' ');
  const startedAt = performance.now();
  expect(shown(safeText(text, null))).toContain('@|a5999');
  expect(performance.now() - startedAt).toBeLessThan(5000);
});
