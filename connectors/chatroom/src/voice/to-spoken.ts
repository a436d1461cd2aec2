import { plainText, renderMarkdown } from '@svc/connector-kit/markdown/index.ts';

/** A sentence as it is spoken: without markup, addresses and table rows. Empty when nothing is left. */
export function toSpoken(sentence: string): string {
  if (/^\s*\|.*\|\s*$/u.test(sentence)) return '';
  const plain = renderMarkdown(sentence.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, '$1'), plainText)
    .replaceAll(/<?\bhttps?:\/\/[^\s>]+>?/giu, ' ')
    .replaceAll(/[*_`~#|]+/gu, ' ')
    .replaceAll(/\s+/gu, ' ')
    .replace(/^[\s>-]+/u, '')
    .trim();
  return /[\p{L}\p{N}]/u.test(plain) ? plain : '';
}
