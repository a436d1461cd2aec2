import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Language } from '@svc/chat-ui/language/language.ts';
import { readTexts, textsModule } from '../scripts/write-texts.ts';

const app = path.resolve(import.meta.dirname, '../apps/dashboard/app/src');
const valuesOf = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].toSorted();

test('every text that the dashboard shows can be translated', () => {
  expect(readTexts().faults).toEqual([]);
});

test('the language types contain every text of the code (node scripts/write-texts.ts)', () => {
  expect(readFileSync(path.join(app, 'language/texts.ts'), 'utf8')).toBe(textsModule(readTexts()));
});

test.each(globSync('languages/*.ts', { cwd: app }))('%s has the placeholders of each text', async (file) => {
  const { language } = (await import(path.join(app, file))) as { language: Language };
  const { texts, plurals } = readTexts();
  for (const text of texts) expect([text, valuesOf(language.texts[text] ?? '')]).toEqual([text, valuesOf(text)]);
  for (const one of plurals)
    for (const form of Object.values(language.plurals[one] ?? {}))
      expect([...valuesOf(one), '{n}']).toEqual(expect.arrayContaining(valuesOf(form)));
});

test('finds texts, and names untranslatable ones with their line', () => {
  const code = `
    const a = t('{name} is in', { name }) + plural(2, '{n} day', '{n} days');
    const b = pieces('Run {command}', { command });
    const c = <p title="Wait"><Rich text={'Open it'} /><Rich text="On {place}" place={p} />Not said{t(a)}</p>;
  `;
  const { texts, plurals, faults } = readTexts({ 'a.tsx': code });
  expect([...texts]).toEqual(['{name} is in', 'Run {command}', 'On {place}']);
  expect([...plurals]).toEqual(['{n} day']);
  expect(faults.map((fault) => fault.slice(0, 30))).toEqual([
    'a.tsx:4: “Wait” must go throug',
    'a.tsx:4: the text of t, plural',
    'a.tsx:4: “Not said” must go th',
    'a.tsx:4: the text of t, plural',
  ]);
});
