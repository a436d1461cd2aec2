import type { DetectionRule, Found } from './rule.ts';
import { findAll } from './structure-rules.ts';

/** The address of a Markdown image: in angle brackets, or up to a blank. For a remote one, the rest is masked too. */
const destination = /^\(\s{0,5}(?:<(?<secret>[^<>\n]{1,2048})>|(?<secret>[^\s<>()"'][^\s<>()]{0,2047}))/d;
const rest = /[^\s<>)]{0,2048}/y;
/** The address of a reference label. Markdown reads escapes and entities in it; the brackets of a mask are no label. */
const reference =
  /(?<!\[redacted:[a-z-]{1,20})\]:\s{0,5}<?(?<secret>(?:(?:[a-z][a-z0-9+.-]{0,20}:)?\/\/|https?:|[a-z:]{0,8}(?:&#?\w{1,10};|\\[:/]))[^\s<>)]{1,2048})/dgi;

/**
 * What a reader's program fetches without being asked, which leaks what the address contains: remote images, inline or by
 * reference (where the address is elsewhere, under a label that any image may use), and tags that load something.
 */
export const imageRules: readonly DetectionRule[] = [
  { id: 'remote-image', triggers: [{ opening: 'span', words: ['!['] }], find: findImages },
  {
    id: 'reference-address',
    triggers: [{ opening: 'span', words: [']:'] }],
    find: (text) => findAll(text, reference, 'link', () => true),
  },
  {
    id: 'remote-image-tag',
    triggers: [
      { opening: 'span', words: ['<img', '<image', '<video', '<audio', '<source', '<iframe', '<embed', '<object', '<link'] },
    ],
    find: (text) => [loadingTag, quotingTag].flatMap((tag) => findAll(text, tag, 'link', () => true)),
  },
  {
    id: 'remote-style',
    triggers: [{ opening: 'span', words: ['url('] }],
    find: (text) => findAll(text, /url\(\s{0,5}["']?(?<secret>(?:https?:)?\/\/[^\s)"']{1,2048})/dgi, 'link', () => true),
  },
];

/** An attribute with a remote address, as browsers read it: with entities, ignored characters, and either slash. */
const loads = String.raw`\b(?:src|srcset|href|poster|data)\s{0,3}=\s{0,3}["']?[\s\p{Cc}]{0,3}(?!data:)(?<secret>(?:[a-z][a-z0-9+.-]{0,20}:|[\\/]\s?[\\/]|h\s?t\s?t\s?p\s?s?\s?:|[a-z\s:/]{0,12}&#?[a-z0-9]{1,10};)[^\s>"']{1,2048})`;
const tag = '<(?:img|image|video|audio|source|iframe|embed|object|link)\\b';
const loadingTag = new RegExp(String.raw`${tag}[^<>]{0,300}?${loads}`, 'dgiu');
/** An angle bracket in quotes does not end a tag. */
const quotingTag = new RegExp(String.raw`${tag}(?:[^<>"']|"[^"]{0,300}"|'[^']{0,300}'){0,300}?${loads}`, 'dgiu');

function findImages(text: string): Found[] {
  const found: Found[] = [];
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    // The text of an image may contain pairs of brackets; escaped ones do not count.
    if (text[at] === '\\') at++;
    else if (text[at] === '[') open.push(at);
    else if (text[at] === ']' && text[(open.pop() ?? 0) - 1] === '!' && text[at + 1] === '(') {
      const place = destination.exec(text.slice(at + 1, at + 2100))?.indices?.groups?.['secret'];
      if (place === undefined) continue;
      const [from, to] = [at + 1 + place[0], at + 1 + place[1]];
      if (!isRemote(text.slice(from, to))) continue;
      rest.lastIndex = to;
      found.push({ from, to: to + (rest.exec(text)?.[0].length ?? 0), kind: 'link' });
    }
  }
  return found;
}

/** True also for an address spelled with entities or escapes, which Markdown reads. */
const isRemote = (place: string): boolean => /[:&\\]|^\/\//.test(place) && !/^data:/i.test(place);
