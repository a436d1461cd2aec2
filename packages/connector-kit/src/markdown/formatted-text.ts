/**
 * A part of a text with its own formatting. `offset` and `length` count UTF-16 units. `verbatim`: a sign of the platform's own in the text,
 * such as a list bullet.
 */
export type Entity =
  | { type: StyleType | 'code' | 'blockquote' | 'expandable_blockquote' | 'verbatim'; offset: number; length: number }
  | { type: 'heading'; offset: number; length: number; depth: number }
  | { type: 'pre'; offset: number; length: number; language?: string }
  | { type: 'text_link'; offset: number; length: number; url: string };

export type FormattedText = { text: string; entities: Entity[] };

const styleTypes = ['bold', 'italic', 'strikethrough', 'spoiler'] as const;
type StyleType = (typeof styleTypes)[number];

export const endOf = ({ offset, length }: Entity): number => offset + length;
const isStyle = ({ type }: Entity): boolean => styleTypes.some((each) => each === type);
const isOpaque = ({ type }: Entity): boolean => type === 'code' || type === 'pre' || type === 'verbatim';

type Kept = { entity: Entity; holes: Entity[] };

/**
 * Makes entities follow rules that every platform accepts: none in code, no code or link in a link, none nested in its own kind, none empty
 * or with blanks at its ends. They must already be nested or disjoint, as those from a syntax tree are.
 */
export function tidyEntities({ text, entities }: FormattedText): FormattedText {
  const kept: Kept[] = [];
  let around: Kept[] = [];
  for (const entity of entities.toSorted(byPlace)) {
    around = around.filter((outer) => endOf(outer.entity) > entity.offset);
    if (around.some((outer) => excludes(outer.entity, entity))) continue;
    if (isOpaque(entity)) for (const outer of around) outer.holes.push(entity);
    const own = { entity, holes: [] };
    kept.push(own);
    around.push(own);
  }
  const parts = kept.flatMap(({ entity, holes }) => (isStyle(entity) ? without(entity, holes) : [entity]));
  return trim({ text, entities: parts.flatMap((entity) => trimEntity(text, entity)).toSorted(byPlace) });
}

const quotes: readonly Entity['type'][] = ['blockquote', 'expandable_blockquote'];

/** Whether an entity may not contain another one. */
function excludes(outer: Entity, inner: Entity): boolean {
  if (isOpaque(outer) || outer.type === inner.type) return true;
  if (outer.type === 'text_link') return isOpaque(inner);
  return quotes.includes(outer.type) && quotes.includes(inner.type);
}

/** The part of it between two offsets, unchanged. */
export function sliceFormatted({ text, entities }: FormattedText, from: number, to: number): FormattedText {
  const inside = entities.flatMap((entity) => {
    const offset = Math.max(entity.offset, from);
    const end = Math.min(endOf(entity), to);
    return end > offset ? [{ ...entity, offset: offset - from, length: end - offset }] : [];
  });
  return { text: text.slice(from, to), entities: inside };
}

/** The parts of a style that lie outside code, which cannot have styles. */
function without(entity: Entity, holes: readonly Entity[]): Entity[] {
  const starts = [entity.offset, ...holes.map(endOf)];
  const ends = [...holes.map(({ offset }) => offset), endOf(entity)];
  return starts.map((offset, index) => ({ ...entity, offset, length: (ends[index] ?? offset) - offset }));
}

/** Keeps the indentation at the beginning of code. */
function trimEntity(text: string, entity: Entity): Entity[] {
  const words = text.slice(entity.offset, endOf(entity));
  const before = entity.type === 'pre' ? (/^\n*/.exec(words)?.[0].length ?? 0) : words.length - words.trimStart().length;
  const length = words.trimEnd().length - before;
  return length > 0 ? [{ ...entity, offset: entity.offset + before, length }] : [];
}

/** Removes blanks at the end, and at the beginning up to the first entity. */
function trim({ text, entities }: FormattedText): FormattedText {
  const first = entities[0]?.offset ?? text.length;
  const from = Math.min(first, text.length - text.trimStart().length);
  return {
    text: text.slice(from).trimEnd(),
    entities: entities.map((entity) => ({ ...entity, offset: entity.offset - from })),
  };
}

const byPlace = (a: Entity, b: Entity): number => a.offset - b.offset || b.length - a.length;
