import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Joiner, Rewriter, Splitter, type MimeNode, type RewriterNode } from '@zone-eu/mailsplit';

/** What says nothing of a text that is no such text: names that programs write without looking. */
const sayNothing = /^(?:|(?:us-?)?ascii|utf-?8|(?:x-)?unknown(?:-8bit)?|8bit|7bit|binary|default)$/i;

/**
 * A mail with its texts in UTF-8, and saying so, where they say nothing of how they are written, or are not as they say: old programs, scanners
 * and scripts send the bytes of Latin letters without a charset. Rejects for what no parser takes.
 */
export async function withCharsets(raw: Buffer): Promise<Buffer> {
  const rewriter = new Rewriter(isInDoubt);
  rewriter.on('node', rewrite);
  const parts: Buffer[] = [];
  await pipeline(Readable.from([raw]), new Splitter(), rewriter, new Joiner(), async (bytes: AsyncIterable<Buffer>) => {
    for await (const part of bytes) parts.push(part);
  });
  return Buffer.concat(parts);
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
 * Bytes of unknown writing as text. What is not UTF-8 is as the page itself says, else the writing of Western Windows, of which Latin-1 is a
 * part; mail programs take it for that, too. UTF-8 with a fault or two stays UTF-8.
 */
export function guessText(bytes: Buffer, { isHtml = false } = {}): string {
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return text;
  const said = isHtml
    ? /<meta[^>]{1,200}?charset\s*=\s*["']?([\w-]{1,40})/i.exec(bytes.toString('latin1', 0, 4096))?.[1]
    : undefined;
  if (said !== undefined && !sayNothing.test(said)) {
    try {
      return new TextDecoder(said).decode(bytes);
    } catch {
      // A name that nobody knows says nothing either.
    }
  }
  const [broken, whole] = [/\ufffd/g, /[^\0-\x7f\ufffd]/gu].map((of) => text.match(of)?.length ?? 0) as [number, number];
  return broken > whole ? new TextDecoder('windows-1252').decode(bytes) : text;
}
