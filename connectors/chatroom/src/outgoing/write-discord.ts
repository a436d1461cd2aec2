import { endOf, type Entity, type FormattedText } from '@svc/connector-kit/markdown';

/** An invisible character that separates signs which would otherwise be read as one. */
const apart = '\u200B';

const styleMarks = { bold: '**', italic: '*', strikethrough: '~~', spoiler: '||' } as const;

/** What Discord would interpret: signs, links and addresses, and marks at the beginning of a line. */
const signs =
  /[\\*_~`|[]|\((?<=\]\()|:(?=\/\/)|#(?=#{0,2}\s)(?<=^[^\S\n]*#)|-(?=#?\s)(?<=^[^\S\n]*-)|\+(?=\s)(?<=^[^\S\n]*\+)|>(?=[\s>])(?<=^[^\S\n]*>)|\.(?=\s)(?<=^[^\S\n]*\d{1,20}\.)/gm;

/** Writes a text as Discord's Markdown. All markup in it is closed. */
export const writeDiscord = (text: FormattedText): string => writeRange(text, 0, text.text.length);

function writeRange({ text, entities }: FormattedText, from: number, to: number): string {
  let written = '';
  let at = from;
  for (const [index, entity] of entities.entries()) {
    if (entity.offset < at) continue; // it lies within the previous one
    written += escape(text, at, entity.offset);
    at = endOf(entity);
    const inside = entities.slice(index + 1).filter(({ offset }) => offset < at);
    written = join(written, entity, { text, entities: inside });
    if (isBlock(entity) && at < to && text.charAt(at) !== '\n') written += '\n';
  }
  return written + escape(text, at, to);
}

function escape(text: string, from: number, to: number): string {
  let escaped = '';
  let at = from;
  signs.lastIndex = from;
  for (let found = signs.exec(text); found !== null && found.index < to; found = signs.exec(text)) {
    escaped += `${text.slice(at, found.index)}\\${found[0]}`;
    at = signs.lastIndex;
  }
  return escaped + text.slice(at, to);
}

const isBlock = ({ type }: Entity): boolean => type === 'pre' || type === 'blockquote' || type === 'expandable_blockquote';

function join(before: string, entity: Entity, whole: FormattedText): string {
  const words = whole.text.slice(entity.offset, endOf(entity));
  const inner = () => writeRange(whole, entity.offset, endOf(entity));
  const isLineStart = before === '' || before.endsWith('\n');
  const line = isLineStart ? before : `${before}\n`;
  switch (entity.type) {
    case 'pre':
      return `${line}\`\`\`${entity.language ?? ''}\n${unlinked(words).replaceAll(/`(?=``)/g, `\`${apart}`)}\n\`\`\``;
    case 'blockquote':
    case 'expandable_blockquote':
      return line + inner().replaceAll(/^/gm, '> ');
    case 'heading':
      return isLineStart ? `${before}${'#'.repeat(entity.depth)} ${oneLine(inner())}` : glue(before, styled(inner(), '**'));
    case 'code':
      return glue(before, inlineCode(oneLine(words)));
    case 'text_link':
      return before + link(words, inner(), entity.url, whole.text.charAt(endOf(entity)));
    case 'verbatim':
      return before + words;
    default:
      return glue(before, styled(inner(), styleMarks[entity.type]));
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');

/** Marks each line separately, because a style does not continue past the beginning of a line. */
const styled = (inner: string, marks: string): string =>
  inner.replaceAll(/^([^\S\n]*)(\S(?:.*\S)?)/gm, (_, blank: string, words: string) => `${blank}${marks}${words}${marks}`);

/** Separates two signs that would be read as one. */
const glue = (before: string, more: string): string =>
  more !== '' && before.endsWith(more.charAt(0)) && !isEscaped(before) ? before + apart + more : before + more;

const isEscaped = (text: string): boolean => (/\\*(?=.$)/s.exec(text)?.[0].length ?? 0) % 2 === 1;

/** Backticks in a row would end the code, or begin a code block. */
function inlineCode(words: string): string {
  if (!words.includes('`')) return `\`${unlinked(words)}\``;
  return `\`\` ${unlinked(words).replaceAll(/`(?=`)/g, `\`${apart}`)} \`\``;
}

/** Discord extends the text of a link to the last `](` that follows without a `[` in between, even in code. */
const unlinked = (code: string): string => code.replaceAll(/(?<=^[^[]*\])\(/g, `${apart}(`);

/** Discord does not show a link whose text is itself an address. `next`: the following character, which could become part of an address. */
function link(words: string, inner: string, url: string, next: string): string {
  const address = cleanAddress(url);
  if (withoutScheme(words) === withoutScheme(url)) return /^\s?$/.test(next) ? address : `<${address}>`;
  return /https?:\/\//i.test(words) ? `${inner} (<${address}>)` : `[${withPairs(oneLine(inner))}](${address})`;
}

/** Encodes everything that would be interpreted or end the address. */
export const cleanAddress = (address: string): string =>
  address.replaceAll(/[\s*|`~<>\\"()[\]]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

const withoutScheme = (address: string): string => address.replace(/^https?:\/\//i, '').replace(/\/$/, '');

/** Unbalanced brackets would end the link, or its text. */
function withPairs(label: string): string {
  let depth = 0;
  for (const sign of label) {
    depth += sign === '[' ? 1 : sign === ']' ? -1 : 0;
    if (depth < 0 || depth > 1) break;
  }
  return depth === 0 ? label : label.replaceAll(/\\?\[/g, '(').replaceAll(']', ')');
}
