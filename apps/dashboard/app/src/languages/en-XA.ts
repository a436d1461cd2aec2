import type { Language } from '@svc/chat-ui/language/language.ts';
import type { Plural, Text } from '../language/texts.ts';

// Not a language of anybody: every text of the pages with accents and in brackets, as other programs have it under this tag. What a page shows
// without them is no text that a language could have.
const accents: Readonly<Record<string, string>> = {
  a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', y: 'ý', A: 'Á', E: 'É', I: 'Í', O: 'Ó', U: 'Ú', c: 'ç', n: 'ñ', s: 'š', z: 'ž', r: 'ř', t: 'ť', d: 'ď', l: 'ĺ',
}; // prettier-ignore

const accented = (text: string): string =>
  `⟦${text.replace(/\{\w+\}|./gs, (part) => (part.length > 1 ? part : (accents[part] ?? part)))}⟧`;

/** Answers to any text, so that it needs no keeping up. */
const ofEach = <Key extends string, Value>(make: (key: string) => Value): Record<Key, Value> =>
  new Proxy({} as Record<Key, Value>, { get: (_, key) => (typeof key === 'string' ? make(key) : undefined) });

export const language: Language<Text, Plural> = {
  texts: ofEach(accented),
  plurals: ofEach((one) => ({ other: accented(one) })),
};
