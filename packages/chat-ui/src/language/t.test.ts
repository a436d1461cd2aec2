import { afterEach, expect, test } from 'vitest';
import { speak } from './language.ts';
import { pieces, plural, t } from './t.ts';

afterEach(() => speak('en', { texts: {}, plurals: {} }));

const polish = {
  texts: { '{name} is let in.': 'Wpuszczono: {name}.', '{who} on {place}': '{place}: {who}' },
  plurals: { '{n} turn of {name}': { one: '{n} tura ({name})', few: '{n} tury ({name})', other: '{n} tur ({name})' } },
};

test('texts are English without a language, and fall back to English where a translation is missing', () => {
  expect(t('{name} is let in.', { name: 'Anna' })).toBe('Anna is let in.');
  speak('pl', polish);
  expect(t('{name} is let in.', { name: 'Anna' })).toBe('Wpuszczono: Anna.');
  expect(t('Let in')).toBe('Let in');
});

test('plural() uses the plural form that the language has for the number', () => {
  const turns = (n: number) => plural(n, '{n} turn of {name}', '{n} turns of {name}', { name: 'Anna' });
  expect([0, 1, 2].map(turns)).toEqual(['0 turns of Anna', '1 turn of Anna', '2 turns of Anna']);
  speak('pl', polish);
  expect([1, 2, 5].map(turns)).toEqual(['1 tura (Anna)', '2 tury (Anna)', '5 tur (Anna)']);
});

test('inserts values verbatim, including placeholders and replacement patterns', () => {
  expect(t('{a} and {b}', { a: '{b}', b: '$& $1' })).toBe('{b} and $& $1');
});

test('pieces() orders the parts as the language does', () => {
  const part = { bold: true };
  expect(pieces('{who} on {place}', { who: part, place: 'Telegram' })).toEqual(['', part, ' on ', 'Telegram', '']);
  speak('pl', polish);
  expect(pieces('{who} on {place}', { who: part, place: 'Telegram' })).toEqual(['', 'Telegram', ': ', part, '']);
});
