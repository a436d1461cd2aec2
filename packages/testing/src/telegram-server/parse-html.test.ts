import { expect, test } from 'vitest';
import { parseHtml } from './parse-html.ts';

const read = (html: string) => {
  const { text, entities } = parseHtml(html);
  return [
    text,
    ...entities.map(({ type, offset, length, url, language }) =>
      [type, offset, length, url ?? language].filter((one) => one !== undefined).join(' '),
    ),
  ];
};

test.each<[string, string[]]>([
  ['plain &lt;b&gt; &amp;amp; &quot;x&quot; &#33;&#x1F600; & &copy;', ['plain <b> &amp; "x" !😀 & &copy;']],
  ['a <b>b <i>c</i></b>', ['a b c', 'italic 4 1', 'bold 2 3']],
  [
    '<STRONG>x</strong><em>y</em><ins>z</ins><del>w</del>',
    ['xyzw', 'bold 0 1', 'italic 1 1', 'underline 2 1', 'strikethrough 3 1'],
  ],
  ['😀<u>é</u>', ['😀é', 'underline 2 1']],
  ['<a href="https://x.example/?a=1&amp;b=2">x</a>', ['x', 'text_link 0 1 https://x.example/?a=1&b=2']],
  ["<a href='tg://user?id=1'>x</a>", ['x', 'text_link 0 1 tg://user?id=1']],
  ['<code>a &lt; b</code>', ['a < b', 'code 0 5']],
  ['<pre><code class="language-ts">x = 1</code></pre>', ['x = 1', 'pre 0 5 ts']],
  ['<pre>x</pre>', ['x', 'pre 0 1']],
  ['<blockquote expandable>q</blockquote>', ['q', 'expandable_blockquote 0 1']],
  ['<span class="tg-spoiler">s</span><tg-spoiler>t</tg-spoiler>', ['st', 'spoiler 0 1', 'spoiler 1 1']],
  ['<b></b>x', ['x']],
  ['a > b', ['a > b']],
])('parses %s', (html, expected) => {
  expect(read(html)).toEqual(expected);
});

test.each([
  ['a < b', 'Unsupported start tag "" at byte offset 2'],
  ['é<b', 'Unclosed start tag at byte offset 2'],
  ['x <ul>', 'Unsupported start tag "ul" at byte offset 2'],
  ['a<br>', 'Unsupported start tag "br" at byte offset 1'],
  ['if a <b && c', 'Expected equal sign in declaration of an attribute of the tag "b" at byte offset 8'],
  ['<b>x', 'Can\'t find end tag corresponding to start tag "b"'],
  ['x</b>', 'Unexpected end tag at byte offset 1'],
  ['<b><i>x</b></i>', 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
  ['<b>x</b', 'Unclosed end tag at byte offset 4'],
  ['<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
  ['<a href>x</a>', 'Expected equal sign in declaration of an attribute of the tag "a" at byte offset 3'],
  ['<a ="x">x</a>', 'Empty attribute name in the tag "a" at byte offset 3'],
  ['<a href="x>y</a>', 'Unclosed start tag at byte offset 0'],
])('rejects %s: %s', (html, description) => {
  expect(() => parseHtml(html)).toThrow(`Bad Request: can't parse entities: ${description}`);
});
