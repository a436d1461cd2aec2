import { expect, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { createRedactor } from './redactor.ts';

const { forPublic } = createRedactor([]);
const place = 'https://x.example/?q=1';
const gone = '[redacted:link]';

/** A reader's program fetches these automatically, with the data in their address. */
const fetched = [
  [`![a](${place})`, `![a](${gone})`],
  [`![some words before it](${place} "title")`, `![some words before it](${gone} "title")`],
  [`![a](<${place}>)`, `![a](<${gone}>)`],
  [`![a [b] c](${place})`, `![a [b] c](${gone})`],
  [`![a\nb](${place})`, `![a\nb](${gone})`],
  [`[![a](${place})](https://ok.example)`, `[![a](${gone})](https://ok.example)`],
  ['![a](https://x.example/(b)?q=1)', `![a](${gone})?q=1)`],
  ['![a](//x.example/?q=1)', `![a](${gone})`],
  ['![a](ftp://x.example/?q=1)', `![a](${gone})`],
  ['![a](https&colon;//x.example/?q=1)', `![a](${gone})`],
  ['![a](https\\://x.example/?q=1)', `![a](${gone})`],
  [`![a\\]](${place})`, `![a\\]](${gone})`],
  [`![a][x]\n\n[x]: ${place}`, `![a][x]\n\n[x]: ${gone}`],
  [`![a]\n\n[a]:\n  <${place}> "title"`, `![a]\n\n[a]:\n  <${gone}> "title"`],
  [`<img alt="a" src=${place}>`, `<img alt="a" src=${gone}>`],
  [`<IMG\nSRC='${place}'>`, `<IMG\nSRC='${gone}'>`],
  [`<img srcset="${place} 2x">`, `<img srcset="${gone} 2x">`],
  [`<video poster="${place}">`, `<video poster="${gone}">`],
  [`<object data="${place}">`, `<object data="${gone}">`],
  [`<link rel=preload href="${place}">`, `<link rel=preload href="${gone}">`],
  [`<img alt='>' src='${place}'>`, `<img alt='>' src='${gone}'>`],
  [`<img a" src=${place}>`, `<img a" src=${gone}>`],
  ['<img src="https&#58;//x.example/?q=1">', `<img src="${gone}">`],
  ['<img src="&#104;ttps://x.example/?q=1">', `<img src="${gone}">`],
  ['<img src="https:&sol;/x.example/?q=1">', `<img src="${gone}">`],
  ['<img src="https:/x.example/?q=1">', `<img src="${gone}">`],
  ['<img src="/\\x.example/?q=1">', `<img src="${gone}">`],
  ['<img src="\\\\x.example/?q=1">', `<img src="${gone}">`],
  ['<img src="\u0001h\nttps://x.example/?q=1">', `<img src="\u0001${gone}">`],
  ['<img src="ftp://x.example/?q=1">', `<img src="${gone}">`],
  [`<p style="background:url(${place})">`, `<p style="background:url(${gone})">`],
] as const;

test.each(fetched)('[R12] masks the remote link of %j in public', (text, masked) => {
  expect(forPublic.text(text)).toBe(masked);
  expect(forPublic.text(masked)).toBe(masked);
  for (const size of [1, 2, 3, 7]) {
    const stream = forPublic.stream();
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    expect(pieces.map((piece) => stream.push(piece)).join('') + stream.end()).toBe(masked);
  }
});

test.each([
  `see [a](${place}) and ${place}`,
  'const names: { [name: string]: a::b } = {}; x[0]: string',
  'if (![a, b].includes(c)) return !list[0];',
  'let all = vec![1, 2][0]; [[ $a == *[![:space:]]* ]]',
  '![a](files/b.png) and ![c](data:image/png;base64,aGVsbG8=)',
  '<img src="files/b.png" alt="a: b"> and <img src=data:image/png;base64,aGVsbG8=>',
  '<a href="https://x.example/?q=1">x</a>',
  'wow![1]',
])('keeps %j, which fetches nothing on its own', (text) => expect(forPublic.text(text)).toBe(text));

test.each(['![', '![a](', '![[', ']:', '<img ', '<img a="b>" ', `<img "'`, '<img src=h ', '<img src=&', 'url('])(
  '[R08] takes linear time for 64 KiB of %j',
  (part) => {
    const timeOf = (length: number) => {
      const text = part.repeat(length / part.length);
      const once = () => {
        const since = workedMs();
        forPublic.text(text);
        return workedMs() - since;
      };
      return Math.min(...Array.from({ length: 5 }, once));
    };
    // For mutation tests, it is enough that it ends.
    if (process.env['TEST_MUTANTS'] === '1') return void timeOf(4096);
    timeOf(65_536);
    expect(timeOf(65_536)).toBeLessThan(timeOf(16_384) * 8 + 50);
  },
);
