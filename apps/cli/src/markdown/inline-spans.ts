import { decodeEntities, tokensOf, type MarkedToken, type Tokens } from '@svc/connector-kit/markdown/lex-markdown.ts';
import { span, type Span } from '../screen/spans.ts';
import type { Look } from '../terminal.ts';

const lookOf = { strong: 'bold', em: 'italic', del: 'strike' } as const;

/** The content of a paragraph as styled spans. Links show their target, so that no text can hide it. */
export const inlineSpans = (tokens: readonly MarkedToken[], looks: readonly Look[] = []): Span[] =>
  tokens.flatMap((token) => inline(token, looks));

function inline(token: MarkedToken, looks: readonly Look[]): Span[] {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return inlineSpans(tokensOf(token.tokens), [...new Set([...looks, lookOf[token.type]])]);
    case 'codespan':
      return [span(token.text, ...looks, 'cyan')];
    case 'br':
      return [span('\n', ...looks)];
    case 'link':
      return link(inlineSpans(tokensOf(token.tokens), [...new Set<Look>([...looks, 'underline'])]), token, looks);
    case 'image':
      return link([span(decodeEntities(token.text || 'image'), ...looks, 'italic')], token, looks);
    case 'escape':
      return [span(token.text, ...looks)];
    case 'text':
      return token.tokens === undefined
        ? [span(decodeEntities(token.text), ...looks)]
        : inlineSpans(tokensOf(token.tokens), looks);
    default:
      return [span(token.raw, ...looks)];
  }
}

function link(inner: Span[], { href, text }: Pick<Tokens.Link, 'href' | 'text'>, looks: readonly Look[]): Span[] {
  const isBare = text === href || `mailto:${text}` === href || `http://${text}` === href;
  return isBare || href === '' ? inner : [...inner, span(` (${href})`, ...looks, 'dim')];
}
