import { lexMarkdown, mostUnits, tokensOf, type MarkedToken } from '@svc/connector-kit/markdown/lex-markdown.ts';

/** Between "@" and a name: nobody is told of it. */
const apart = '\u200b';
/** What is a mention once it is shown: as it is, or written as a character. */
const mention = /(?<![A-Za-z0-9])(?:@|&#0*64;|&#[xX]0*40;|&commat;)(?=([A-Za-z0-9](?:[A-Za-z0-9-]{0,38})))/g;
/** What could be taken for a mark of ours. */
const mark = /<!--(?=\s*svc:)/gi;

/**
 * A text of the assistant as it may stand on GitHub: it calls nobody but `addressed`, whoever's words it repeats, and holds no mark of ours. Code stays as it is.
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
  const places: [number, number][] = [];
  let from = 0;
  for (const raw of codeIn(lexMarkdown(markdown) ?? [])) {
    const start = markdown.indexOf(raw, from);
    if (start === -1) continue;
    from = start + raw.length;
    places.push([start, from]);
  }
  return places;
}

/** Sources of code, as far as it is marked by backticks. */
function codeIn(tokens: readonly MarkedToken[]): string[] {
  return tokens.flatMap((token) => {
    if (token.type === 'codespan' || token.type === 'code')
      return token.raw.trimStart().startsWith('`') ? [token.raw.trim()] : [];
    if (token.type === 'list') return token.items.flatMap((item) => codeIn(tokensOf(item.tokens)));
    if (token.type === 'table') return [...token.header, ...token.rows.flat()].flatMap((cell) => codeIn(tokensOf(cell.tokens)));
    return 'tokens' in token && token.tokens !== undefined ? codeIn(tokensOf(token.tokens)) : [];
  });
}
