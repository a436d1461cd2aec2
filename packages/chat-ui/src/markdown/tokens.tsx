import { Fragment, type ReactNode } from 'react';
import type { Token, Tokens } from 'marked';
import { t } from '../language/t.ts';
import { CodeBlock } from '../view/code-block.tsx';
import { safeLink } from './safe-link.ts';

/** Tokens of marked's lexer as React elements. Whatever it calls HTML is shown as the text that it is; nothing is ever set as HTML. */
export const renderTokens = (tokens: readonly Token[] | undefined): ReactNode =>
  tokens?.map((token, index) => <Fragment key={index}>{renderToken(token)}</Fragment>);

/** The lexer makes no other tokens without extensions; what is unknown shows as it was written. */
function renderToken(token: Token): ReactNode {
  const known = token as Tokens.Generic;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'heading':
      return <Heading depth={(token as Tokens.Heading).depth}>{renderTokens(token.tokens)}</Heading>;
    case 'paragraph':
      return <p>{renderTokens(token.tokens)}</p>;
    case 'blockquote':
      return <blockquote>{renderTokens(token.tokens)}</blockquote>;
    case 'code':
      return <CodeBlock lang={(token as Tokens.Code).lang ?? ''} text={(token as Tokens.Code).text} />;
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    case 'strong':
      return <strong>{renderTokens(token.tokens)}</strong>;
    case 'em':
      return <em>{renderTokens(token.tokens)}</em>;
    case 'del':
      return <del>{renderTokens(token.tokens)}</del>;
    case 'codespan':
      return <code>{known['text'] as string}</code>;
    case 'link':
      return <Link link={token as Tokens.Link} />;
    case 'image':
      return <Picture image={token as Tokens.Image} />;
    case 'text':
      return token.tokens === undefined ? unescaped(known['text'] as string) : renderTokens(token.tokens);
    case 'escape':
      return known['text'] as string;
    default:
      return token.raw;
  }
}

const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};
const unescaped = (text: string): string => text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (name) => entities[name] ?? name);

/** The page has headings of its own: those of a reply begin below them. */
function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  if (depth === 1) return <h3>{children}</h3>;
  return depth === 2 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {item.task && (
        <input type="checkbox" checked={item.checked === true} disabled aria-label={item.checked ? t('Done') : t('To do')} />
      )}
      {renderTokens(item.tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ));
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }) {
  const cell = ({ tokens, align }: Tokens.TableCell) => ({
    children: renderTokens(tokens),
    className: align === null ? undefined : `to-${align}`,
  });
  return (
    <div className="table" tabIndex={0} role="region" aria-label={t('Table')}>
      <table>
        <thead>
          <tr>
            {table.header.map((head, index) => (
              <th key={index} {...cell(head)} />
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((data, column) => (
                <td key={column} {...cell(data)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Link({ link }: { link: Tokens.Link }) {
  const target = safeLink(link.href);
  if (target === null) return <>{link.raw}</>;
  const saysWhere = link.text.includes(target.host);
  return (
    <a href={target.href} target="_blank" rel="noopener noreferrer">
      {renderTokens(link.tokens)}
      {!saysWhere && <span className="host"> ({target.host})</span>}
    </a>
  );
}

/** A picture from elsewhere would show its server who reads what, and could carry words out: it is a link. */
function Picture({ image }: { image: Tokens.Image }) {
  const target = safeLink(image.href);
  if (target === null) return <>{image.raw}</>;
  return (
    <a href={target.href} target="_blank" rel="noopener noreferrer">
      {t('Picture: {name}', { name: image.text === '' ? target.host : image.text })} <span className="host">({target.host})</span>
    </a>
  );
}
