import { afterEach, expect, test } from 'vitest';
import { speak } from './language.ts';
import { pieces, plural, t } from './t.ts';

afterEach(() => speak('en', { texts: {}, plurals: {} }));

const polish = {
  texts: { '{name} is let in.': 'Wpuszczono: {name}.', '{who} on {place}': '{place}: {who}' },
  plurals: { '{n} turn of {name}': { one: '{n} tura ({name})', few: '{n} tury ({name})', other: '{n} tur ({name})' } },
};

test('a text is English where no language is spoken, and what a language lacks stays English', () => {
  expect(t('{name} is let in.', { name: 'Anna' })).toBe('Anna is let in.');
  speak('pl', polish);
  expect(t('{name} is let in.', { name: 'Anna' })).toBe('Wpuszczono: Anna.');
  expect(t('Let in')).toBe('Let in');
});

test('a number has the form that its language has for it', () => {
  const turns = (n: number) => plural(n, '{n} turn of {name}', '{n} turns of {name}', { name: 'Anna' });
  expect([0, 1, 2].map(turns)).toEqual(['0 turns of Anna', '1 turn of Anna', '2 turns of Anna']);
  speak('pl', polish);
  expect([1, 2, 5].map(turns)).toEqual(['1 tura (Anna)', '2 tury (Anna)', '5 tur (Anna)']);
});

test('a value is put in as it is, whatever signs are in it', () => {
  expect(t('{a} and {b}', { a: '{b}', b: '$& $1' })).toBe('{b} and $& $1');
});

test('parts stand where the language has them', () => {
  const part = { bold: true };
  expect(pieces('{who} on {place}', { who: part, place: 'Telegram' })).toEqual(['', part, ' on ', 'Telegram', '']);
  speak('pl', polish);
  expect(pieces('{who} on {place}', { who: part, place: 'Telegram' })).toEqual(['', 'Telegram', ': ', part, '']);
});
