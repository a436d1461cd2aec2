import { badRequest, type FormattedText, type TelegramEntity } from './api-types.ts';

const maxEntities = 100;

/** A formatted text as the server keeps it, and what it would show differently from what was sent. */
export type FixedText = FormattedText & { faults: string[] };

/** @throws ApiError for entities outside the text, or ones that split a character. */
export function fixEntities({ text, entities }: FormattedText): FixedText {
  for (const entity of entities) checkBounds(text, entity);
  const sorted = entities
    .filter(({ length }) => length > 0)
    .toSorted((a, b) => a.offset - b.offset || b.length - a.length)
    .map((entity) => ({ ...entity }));
  const faults = [...nestingFaults(sorted)];
  if (sorted.length > maxEntities) faults.push(`${sorted.length} entities, of which ${maxEntities} are kept`);
  return { ...trim(text, sorted.slice(0, maxEntities)), faults };
}

function checkBounds(text: string, { offset, length }: TelegramEntity): void {
  const end = offset + length;
  const where = `entity beginning at UTF-16 offset ${offset}`;
  if (offset < 0 || length < 0) throw badRequest('receive entity with incorrect offset or length');
  if (offset > text.length) throw badRequest(`entity begins after the end of the text at UTF-16 offset ${offset}`);
  if (cutsCharacter(text, offset)) throw badRequest(`entity begins in a middle of a UTF-16 symbol at UTF-16 offset ${offset}`);
  if (end > text.length) throw badRequest(`${where} ends after the end of the text at UTF-16 offset ${end}`);
  if (cutsCharacter(text, end)) throw badRequest(`${where} ends in a middle of a UTF-16 symbol at UTF-16 offset ${end}`);
}

const cutsCharacter = (text: string, at: number): boolean =>
  /[\uD800-\uDBFF]/.test(text[at - 1] ?? '') && /[\uDC00-\uDFFF]/.test(text[at] ?? '');

const isCode = ({ type }: TelegramEntity): boolean => type === 'code' || type === 'pre';
const isQuote = ({ type }: TelegramEntity): boolean => type.endsWith('blockquote');
const canHold = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler', 'blockquote', 'expandable_blockquote']);

/** The documented nesting rules. The real server silently changes what breaks them. */
function* nestingFaults(sorted: readonly TelegramEntity[]): Iterable<string> {
  const open: TelegramEntity[] = [];
  for (const entity of sorted) {
    while (open.length > 0 && endOf(open.at(-1)) <= entity.offset) open.pop();
    const outer = open.at(-1);
    open.push(entity);
    if (outer === undefined) continue;
    const what = `${entity.type} at ${entity.offset} in ${outer.type} at ${outer.offset}`;
    if (endOf(entity) > endOf(outer)) yield `${what} ends after it`;
    else if (isCode(outer) || (isCode(entity) && !isQuote(outer))) yield `${what}: code stands alone`;
    else if (open.slice(0, -1).some(isQuote) && isQuote(entity)) yield `${what}: quotes do not nest`;
    else if (!canHold.has(outer.type) && !canHold.has(entity.type)) yield `${what}: neither can hold the other`;
  }
}

const endOf = (entity: TelegramEntity | undefined): number => (entity === undefined ? 0 : entity.offset + entity.length);

/** Trims white space at both ends, at the start only before the first entity. */
function trim(text: string, entities: readonly TelegramEntity[]): FormattedText {
  const start = Math.min(text.length - text.trimStart().length, entities[0]?.offset ?? text.length);
  const trimmed = text.slice(start).trimEnd();
  const moved = entities.flatMap((entity) => {
    const from = Math.max(entity.offset - start, 0);
    const length = Math.min(endOf(entity) - start, trimmed.length) - from;
    return length > 0 ? [{ ...entity, offset: from, length }] : [];
  });
  return { text: trimmed, entities: moved };
}
