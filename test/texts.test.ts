import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readTexts, textsModule } from '../scripts/write-texts.ts';

test('every word that the dashboard shows could be said in another language', () => {
  expect(readTexts().faults).toEqual([]);
});

test('the types of a language have every text of the code (node scripts/write-texts.ts)', () => {
  const file = path.resolve(import.meta.dirname, '../apps/dashboard/app/src/language/texts.ts');
  expect(readFileSync(file, 'utf8')).toBe(textsModule(readTexts()));
});

test('texts are found, and words that no language could have are named with their line', () => {
  const code = `
    const a = t('{name} is in', { name }) + plural(2, '{n} day', '{n} days');
    const b = pieces('Run {command}', { command });
    const c = <p title="Wait"><Rich text={'Open it'} /><Rich text="On {place}" place={p} />Not said{t(a)}</p>;
  `;
  const { texts, plurals, faults } = readTexts({ 'a.tsx': code });
  expect([...texts]).toEqual(['{name} is in', 'Run {command}', 'On {place}']);
  expect([...plurals]).toEqual(['{n} day']);
  expect(faults.map((fault) => fault.slice(0, 30))).toEqual([
    'a.tsx:4: “Wait” goes through t',
    'a.tsx:4: the text of t, plural',
    'a.tsx:4: “Not said” goes throu',
    'a.tsx:4: the text of t, plural',
  ]);
});
