import { expect, test } from 'vitest';
import { factLine } from './fact-line.ts';
import { fullTime } from './format.ts';

test('what is said first, the rest by name, and neither ids nor what is nothing', () => {
  const after = {
    grant_id: 'grant_1k8g7539g00az4m9mmt',
    role: 'known',
    scope: { surface: 'messenger' },
    expires_at: null,
    notes: '',
  };
  expect(factLine({ what: 'secret_set', actor: 'local', before: null, after })).toBe(
    'secret_set, actor: local, after: role: known, scope: surface: messenger',
  );
});

test('a time is one that can be read, and a list is its parts', () => {
  expect(
    factLine({ expires_at: 1_796_445_507_859, identifiers: [{ surface: 'shell', value: 'anna' }, { surface: 'web' }] }),
  ).toBe(`expires_at: ${fullTime(1_796_445_507_859)}, identifiers: surface: shell, value: anna · surface: web`);
});

test('yes and no are said', () => {
  expect(factLine({ enabled: false, is_resumed: true })).toBe('enabled: no, is_resumed: yes');
});

test('a record without facts is an empty line', () => {
  expect(factLine({})).toBe('');
  expect(factLine({ turn_id: 'turn_1k8g8pnm500zxk2r7ax', reason: null })).toBe('');
});
