import { badRequest, type FormattedText, type TelegramEntity } from './api-types.ts';

type OpenTag = { tag: string; attributes: Map<string, string>; offset: number };

const entityOfTag: Record<string, string> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  a: 'text_link',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  'tg-emoji': 'custom_emoji',
};

/** Text with tags as the Bot API reads it with `parse_mode` HTML. @throws ApiError as it says what cannot be parsed. */
export function parseHtml(html: string): FormattedText {
  const open: OpenTag[] = [];
  const entities: TelegramEntity[] = [];
  let text = '';
  let at = 0;
  const refuse = (what: string, from = at, more = ''): never => {
    throw badRequest(`can't parse entities: ${what} at byte offset ${Buffer.byteLength(html.slice(0, from))}${more}`);
  };

  while (at < html.length) {
    const char = html[at];
    if (char === '&') text += readReference();
    else if (char !== '<') text += html[at++];
    else if (html[at + 1] === '/') closeTag();
    else openTag();
  }
  const last = open.at(-1);
  if (last !== undefined) throw badRequest(`can't parse entities: Can't find end tag corresponding to start tag "${last.tag}"`);
  return { text, entities };

  function readReference(): string {
    const match = /^&(?:#(\d{1,8})|#x([\da-f]{1,6})|(lt|gt|amp|quot));?/i.exec(html.slice(at, at + 12));
    if (match === null) return html[at++] ?? '';
    at += match[0].length;
    const [, decimal, hex, name = ''] = match;
    if (decimal === undefined && hex === undefined) return { lt: '<', gt: '>', amp: '&', quot: '"' }[name.toLowerCase()] ?? '';
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
  }

  function openTag(): void {
    const from = at;
    const [head = '', name = ''] = /^<([^\s>]*)/.exec(html.slice(at)) ?? [];
    const tag = name.toLowerCase();
    at += head.length;
    if (at >= html.length) refuse('Unclosed start tag', from);
    if (entityOfTag[tag] === undefined) refuse(`Unsupported start tag "${tag}"`, from);
    const attributes = readAttributes(tag, from);
    if (tag === 'span' && attributes.get('class') !== 'tg-spoiler') refuse('Tag "span" must have class "tg-spoiler"', from);
    open.push({ tag, attributes, offset: text.length });
  }

  function readAttributes(tag: string, from: number): Map<string, string> {
    const attributes = new Map<string, string>();
    for (;;) {
      at += /^\s*/.exec(html.slice(at))?.[0].length ?? 0;
      if (at >= html.length) refuse('Unclosed start tag', from);
      if (html[at] === '>') {
        at++;
        return attributes;
      }
      const [whole, name = '', equals, value = ''] =
        /^([^\s=>]*)(?:\s*(=)\s*("[^"]*"|'[^']*'|[^\s>"']*))?/.exec(html.slice(at)) ?? [];
      if (name === '') refuse(`Empty attribute name in the tag "${tag}"`);
      if (equals === undefined && !(tag === 'blockquote' && name === 'expandable'))
        refuse(`Expected equal sign in declaration of an attribute of the tag "${tag}"`);
      at += whole?.length ?? 0;
      if (value === '' && /["']/.test(html[at] ?? '')) refuse('Unclosed start tag', from);
      attributes.set(name.toLowerCase(), unescape(value.replaceAll(/^["']|["']$/g, '')));
    }
  }

  function closeTag(): void {
    const from = at;
    const [head = '', name = ''] = /^<\/([^\s>]*)\s*/.exec(html.slice(at)) ?? [];
    at += head.length;
    const begun = open.pop();
    if (begun === undefined) return refuse('Unexpected end tag', from);
    if (html[at] !== '>') refuse('Unclosed end tag', from);
    at++;
    const tag = name.toLowerCase();
    if (tag !== '' && tag !== begun.tag) refuse('Unmatched end tag', from, `, expected "</${begun.tag}>", found "</${tag}>"`);
    const length = text.length - begun.offset;
    if (length > 0) addEntity(begun, length);
  }

  function addEntity({ tag, attributes, offset }: OpenTag, length: number): void {
    const entity: TelegramEntity = { type: entityOfTag[tag] ?? '', offset, length };
    const language = /^language-(.+)$/.exec(attributes.get('class') ?? '')?.[1];
    if (tag === 'code' && language !== undefined) entity.language = language;
    if (tag === 'tg-emoji') entity.custom_emoji_id = attributes.get('emoji-id') ?? '';
    if (tag === 'blockquote' && attributes.has('expandable')) entity.type = 'expandable_blockquote';
    if (tag === 'pre') return addPre(entity);
    if (tag === 'a') {
      const url = attributes.get('href') ?? text.slice(offset);
      // An invalid link stays text.
      if (!/^(?:https?:\/\/|tg:\/\/|mailto:|tel:)?[^\s/]+\.?\S*$/i.test(url)) return;
      entity.url = url;
    }
    entities.push(entity);
  }

  /** `<pre><code class="language-x">` is one block. */
  function addPre(entity: TelegramEntity): void {
    const inner = entities.at(-1);
    const isSame = inner?.type === 'code' && inner.offset === entity.offset && inner.length === entity.length;
    if (isSame) entities.pop();
    entities.push({ ...entity, ...(isSame && inner.language !== undefined && { language: inner.language }) });
  }
}

const unescape = (value: string): string =>
  value.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
