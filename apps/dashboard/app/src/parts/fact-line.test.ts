import { expect, test } from 'vitest';
import { factLine } from './fact-line.ts';
import { fullTime } from './format.ts';

test('lists "what" first and the other facts by name, without ids and empty values', () => {
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

test('formats times for people and joins lists', () => {
  expect(
    factLine({ expires_at: 1_796_445_507_859, identifiers: [{ surface: 'shell', value: 'anna' }, { surface: 'web' }] }),
  ).toBe(`expires_at: ${fullTime(1_796_445_507_859)}, identifiers: surface: shell, value: anna · surface: web`);
});

test('formats booleans as yes and no', () => {
  expect(factLine({ enabled: false, is_resumed: true })).toBe('enabled: no, is_resumed: yes');
});

test('is empty for a record without facts', () => {
  expect(factLine({})).toBe('');
  expect(factLine({ turn_id: 'turn_1k8g8pnm500zxk2r7ax', reason: null })).toBe('');
});
