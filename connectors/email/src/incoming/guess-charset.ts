import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  Joiner,
  Rewriter,
  Splitter,
  type Headers,
  type MimeNode,
  type RewriterNode,
  type SplitterChunk,
} from '@zone-eu/mailsplit';

/** Charset names that say nothing about a text that is not valid in them, because programs write them without checking. */
const sayNothing = /^(?:|(?:us-?)?ascii|utf-?8|(?:x-)?unknown(?:-8bit)?|8bit|7bit|binary|default)$/i;

/**
 * Returns the mail with its headers in UTF-8. With `texts`, text parts without a charset, or with a wrong one, are converted to UTF-8, too, and
 * declare it: old programs, scanners and scripts send Latin letters without a charset. Rejects for a mail that cannot be parsed.
 */
export async function withCharsets(raw: Buffer, { texts }: { texts: boolean }): Promise<Buffer> {
  const rewriter = new Rewriter((node) => texts && isInDoubt(node));
  rewriter.on('node', rewrite);
  const parts: Buffer[] = [];
  const collect = async (bytes: AsyncIterable<Buffer>) => {
    for await (const part of bytes) parts.push(part);
  };
  await pipeline(Readable.from([raw]), new Splitter(), guessHeaders, rewriter, new Joiner(), collect);
  return Buffer.concat(parts);
}

/** File names are assumed to have the encoding of the text before them: one program wrote both. */
async function* guessHeaders(parts: AsyncIterable<SplitterChunk>): AsyncGenerator<SplitterChunk> {
  let charset = '';
  for await (const part of parts) {
    if (part.type === 'node') {
      if (part.contentType !== false && part.contentType.startsWith('text/') && part.charset !== false) ({ charset } = part);
      if (part.headers !== false && !isUtf8(part.headers.build())) inUtf8(part.headers, charset);
    }
    yield part;
  }
}

function inUtf8(headers: Headers, charset: string): void {
  for (const field of headers.getList()) {
    const bytes = Buffer.from(field.line, 'latin1');
    if (!isUtf8(bytes)) field.line = Buffer.from(guessText(bytes, { charset }).replaceAll('\ufffd', '?')).toString('latin1');
  }
  headers.changed = true;
}

/** The header of a mail as text. Each field is decoded separately, because several programs have written them. */
export function headerText(header: Buffer): string {
  if (isUtf8(header)) return header.toString('utf8');
  const text = header.toString('latin1');
  const charset = /^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*?charset="?([\w-]{1,40})/im.exec(text)?.[1] ?? '';
  return text
    .split(/(?<=\n)(?![ \t])/)
    .map((field) => guessText(Buffer.from(field, 'latin1'), { charset }))
    .join('');
}

const isInDoubt = ({ contentType, disposition, charset, multipart }: MimeNode): boolean =>
  multipart === false &&
  [false, 'text/plain', 'text/html'].includes(contentType) &&
  disposition !== 'attachment' &&
  sayNothing.test(charset === false ? '' : charset);

function rewrite({ node, decoder, encoder }: RewriterNode): void {
  const parts: Buffer[] = [];
  decoder.on('data', (part: Buffer) => parts.push(part));
  decoder.on('end', () => {
    node.setCharset('utf-8');
    encoder.end(guessText(Buffer.concat(parts), { isHtml: node.contentType === 'text/html' }));
  });
}

/**
 * Decodes bytes of unknown encoding. What is not UTF-8 is read in the given charset, or the one that the page names, otherwise as Windows-1252, which
 * mail programs assume, too, and which contains Latin-1. UTF-8 with a few broken characters is still read as UTF-8.
 */
export function guessText(bytes: Buffer, { isHtml = false, charset = '' } = {}): string {
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return text;
  const said = isHtml
    ? /<meta[^>]{1,200}?charset\s*=\s*["']?([\w-]{1,40})/i.exec(bytes.toString('latin1', 0, 4096))?.[1]
    : charset;
  if (said !== undefined && !sayNothing.test(said)) {
    try {
      return new TextDecoder(said).decode(bytes);
    } catch {
      // an unknown name says nothing either
    }
  }
  const [broken, whole] = [/\ufffd/g, /[^\0-\x7f\ufffd]/gu].map((of) => text.match(of)?.length ?? 0) as [number, number];
  return broken > whole ? new TextDecoder('windows-1252').decode(bytes) : text;
}
