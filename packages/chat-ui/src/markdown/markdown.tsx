import { Lexer, type Token } from 'marked';
import { memo } from 'react';
import { CodeBlock } from '../view/code-block.tsx';
import { closeMarkdown } from './close-markdown.ts';
import { piecesOf } from './pieces.ts';
import { type Part, splitMarkdown } from './split.ts';
import { renderTokens } from './tokens.tsx';

/** Cuts Markdown into its blocks, each as it was written; null for what the lexer does not stand. */
function blocksOf(text: string): Token[] | null {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text);
  } catch {
    return null; // its stack: the text stands as it was written
  }
}

/**
 * A reply. Each block renders again only when its own text changes: of one that streams, that is the last. `isLive`: more is coming, and what is
 * half written is shown as if it had ended.
 */
export function Markdown({ text, isLive = false }: { text: string; isLive?: boolean }) {
  const parts = splitMarkdown(text);
  return (
    <div className="markdown">
      {parts.map((part, index) => (
        <PartView
          key={index}
          kind={part.kind}
          text={part.text}
          lang={part.kind === 'code' ? part.lang : ''}
          isLive={isLive && index === parts.length - 1}
        />
      ))}
    </div>
  );
}

type PartProps = { kind: Part['kind']; text: string; lang: string; isLive: boolean };

const PartView = memo(function PartView({ kind, text, lang, isLive }: PartProps) {
  if (kind === 'code') return <CodeBlock lang={lang} text={text} />;
  if (kind === 'plain') return <p className="plain">{text}</p>;
  return piecesOf(text).map((piece, index, pieces) => (
    <Blocks key={index} text={isLive && index === pieces.length - 1 ? closeMarkdown(piece) : piece} />
  ));
});

const Blocks = memo(function Blocks({ text }: { text: string }) {
  const tokens = blocksOf(text);
  return tokens === null ? <p className="plain">{text}</p> : renderTokens(tokens);
});
