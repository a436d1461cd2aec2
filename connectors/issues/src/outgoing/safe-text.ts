import { lexMarkdown, mostUnits, tokensOf, type MarkedToken } from '@svc/connector-kit/markdown/lex-markdown.ts';

/** Between "@" and a name: nobody is notified of it. */
const apart = '\u200b';
/** What is a mention once it is shown: as it is, or written as a character. */
const mention = /(?<![A-Za-z0-9])(?:@|&#0*64;|&#[xX]0*40;|&commat;)(?=([A-Za-z0-9](?:[A-Za-z0-9-]{0,38})))/g;
/** Different pieces of code with a name in them that are looked for; more are written like other text. */
const mostSources = 100;
/** What could be taken for a mark of ours. */
const mark = /<!--(?=\s*svc:)/gi;

/**
 * A text of the assistant as it may stand on GitHub: it mentions nobody but `addressed`, also in text that it repeats, and holds no mark of ours. Code stays as it is.
 */
export function safeText(markdown: string, addressed: string | null): string {
  const kept = codeOf(markdown);
  let text = '';
  let at = 0;
  for (const [start, end] of kept) {
    text += neutral(markdown.slice(at, start), addressed) + markdown.slice(start, end);
    at = end;
  }
  return (text + neutral(markdown.slice(at), addressed)).replaceAll(mark, '<!-- ');
}

const neutral = (text: string, addressed: string | null): string =>
  text.replaceAll(mention, (sign, name: string) => (name.toLowerCase() === addressed?.toLowerCase() ? sign : sign + apart));

/** Where code is, in order; none where that cannot be known. */
function codeOf(markdown: string): [start: number, end: number][] {
  if (!markdown.includes('`') || markdown.length > mostUnits) return [];
  const codes = codeIn(lexMarkdown(markdown) ?? []).filter((code) => code.includes('@') || code.includes('&'));
  const sure = onlyCode(markdown, codes);
  const places: [number, number][] = [];
  let from = 0;
  for (const raw of codes) {
    const start = sure.has(raw) ? markdown.indexOf(raw, from) : -1;
    if (start === -1) continue;
    from = start + raw.length;
    places.push([start, from]);
  }
  return places;
}

/** Sources that are code wherever they stand: the same signs may be text elsewhere, behind a backslash or in HTML. */
function onlyCode(markdown: string, codes: readonly string[]): Set<string> {
  const counts = new Map<string, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  const sure = [...counts].slice(0, mostSources).filter(([code, count]) => standsAt(markdown, code, count));
  return new Set(sure.map(([code]) => code));
}

/** Whether it is there so often, and no more. */
function standsAt(markdown: string, code: string, count: number): boolean {
  let found = 0;
  for (let at = markdown.indexOf(code); at !== -1 && found <= count; at = markdown.indexOf(code, at + 1)) found++;
  return found === count;
}

/** Sources of code, as far as it is marked by backticks. */
function codeIn(tokens: readonly MarkedToken[]): string[] {
  return tokens.flatMap((token) => {
    if (token.type === 'codespan' || token.type === 'code')
      return token.raw.trimStart().startsWith('`') ? [token.raw.trim()] : [];
    if (token.type === 'list') return inOneLine(token.items.flatMap((item) => codeIn(tokensOf(item.tokens))));
    if (token.type === 'blockquote') return inOneLine(codeIn(tokensOf(token.tokens)));
    if (token.type === 'table') return [...token.header, ...token.rows.flat()].flatMap((cell) => codeIn(tokensOf(cell.tokens)));
    return 'tokens' in token && token.tokens !== undefined ? codeIn(tokensOf(token.tokens)) : [];
  });
}

/** Further lines of these stand in the text with other signs before them. */
const inOneLine = (codes: readonly string[]): string[] => codes.filter((code) => !code.includes('\n'));
