import { tidyEntities, type Entity, type FormattedText } from './formatted-text.ts';

/** A mark is `begin kind value middle`, and its end is `close`. All are noncharacters, which a cleaned text never contains. */
const [begin, middle, close] = ['\ufdd0', '\ufdd1', '\ufdd2'] as const;
const marks = /\ufdd0(\w+) ([^\ufdd1]*)\ufdd1|(\ufdd2)|([^\ufdd0\ufdd2]+)/g;

type Kind = Entity['type'];

/**
 * Marks `inner` as an entity, for dialects that write entities. `value`: the address of a link, the language of code, or the depth of a
 * heading.
 */
export const mark = (kind: Kind, inner: string, value = ''): string => `${begin}${kind} ${value}${middle}${inner}${close}`;

/** Converts a text with marks to a text with entities. */
export function readMarks(marked: string): FormattedText {
  const entities: Entity[] = [];
  const open: Entity[] = [];
  let text = '';
  for (const [, kind, value = '', end, words] of marked.matchAll(marks)) {
    if (words !== undefined) text += words;
    else if (end === undefined) open.push(entities[entities.push(toEntity(kind as Kind, text.length, value)) - 1]!);
    else {
      const ended = open.pop();
      if (ended !== undefined) ended.length = text.length - ended.offset;
    }
  }
  return tidyEntities({ text, entities });
}

function toEntity(type: Kind, offset: number, value: string): Entity {
  if (type === 'text_link') return { type, offset, length: 0, url: value };
  if (type === 'heading') return { type, offset, length: 0, depth: Number(value) };
  if (type === 'pre') return { type, offset, length: 0, ...(value !== '' && { language: value }) };
  return { type, offset, length: 0 };
}

/** `||words||` within a line, without inner blanks: the "or" operator of a program has blanks around it. */
const spoiler = /\|\|(?=\S)([^\n|]+)(?<=\S)\|\|/g;

/** Marks spoilers, which Markdown does not know. */
export const withSpoilers = (words: string): string => words.replaceAll(spoiler, (_, inner: string) => mark('spoiler', inner));

/** The language of a code block, if it is a valid name. */
export const languageName = (name: string): string => (/^[\w+#.-]{1,40}$/.test(name) ? name : '');
