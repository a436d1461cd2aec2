/** An entity in the form of the Bot API. */
export type GivenEntity = { type: string; offset: number; length: number; url?: string; language?: string };

const styles = ['bold', 'italic', 'underline', 'strikethrough', 'spoiler'];
const quotes = ['blockquote', 'expandable_blockquote'];
const known = [...styles, ...quotes, 'code', 'pre', 'text_link', 'text_mention', 'custom_emoji'];
const maxEntities = 100;

/**
 * What Telegram would refuse or silently change in a text with its entities; empty when it would be shown as intended. Stricter than the
 * servers: they drop entities that break the nesting rules and those after the hundredth, and trim blanks.
 */
export function checkText(text: string, entities: readonly GivenEntity[], most = 4096): string[] {
  return [
    ...checkWords(text, most),
    ...checkList(entities),
    ...entities.flatMap((each) => checkEntity(text, each)),
    ...checkNesting(entities),
  ];
}

function checkWords(text: string, most: number): string[] {
  return [
    ...(text.isWellFormed() ? [] : ['the text is not well-formed']),
    ...(text.length > most ? [`the text has ${text.length} units`] : []),
    ...(/[^\s\p{Cf}]/u.test(text) ? [] : ['the text is empty']),
    ...(text.trimEnd() === text ? [] : ['the text ends with blanks']),
    ...(/[^\P{Cc}\n\t]|[\u2028-\u202e]/u.test(text) ? ['the text has control characters'] : []),
  ];
}

function checkList(entities: readonly GivenEntity[]): string[] {
  const isSorted = entities.every((each, index) => index === 0 || entities[index - 1]!.offset <= each.offset);
  return [
    ...(entities.length > maxEntities ? [`${entities.length} entities`] : []),
    ...(isSorted ? [] : ['the entities are not sorted']),
  ];
}

function checkEntity(text: string, entity: GivenEntity): string[] {
  const { type, offset, length, url, language } = entity;
  const end = offset + length;
  const problems = [
    known.includes(type) ? null : 'is of an unknown type',
    Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length > 0 ? null : 'has no place',
    end <= text.length ? null : 'ends behind the text',
    isHalf(text, offset) || isHalf(text, end) ? 'cuts a character' : null,
    text.slice(offset, end).trim() === '' ? 'is blank' : null,
    type === 'text_link' ? checkUrl(url) : url === undefined ? null : 'has a url',
    language === undefined || type === 'pre' ? null : 'has a language',
  ];
  return problems.flatMap((problem) => (problem === null ? [] : [`${JSON.stringify(entity)} ${problem}`]));
}

const isHalf = (text: string, at: number): boolean =>
  /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));

function checkUrl(address: string | undefined): string | null {
  const url = URL.parse(address ?? '');
  if (url === null || !['http:', 'https:', 'tg:'].includes(url.protocol)) return 'has no url that Telegram opens';
  return url.protocol === 'tg:' || url.hostname.includes('.') ? null : 'has a url without a domain';
}

/** Entities are nested or disjoint; code contains nothing and is only inside quotes; quotes contain no quotes, and links no links or code. */
function checkNesting(entities: readonly GivenEntity[]): string[] {
  const problems: string[] = [];
  for (const [index, a] of entities.entries())
    for (const b of entities.slice(index + 1)) {
      if (b.offset >= a.offset + a.length) break;
      const inner = b.offset + b.length <= a.offset + a.length ? b : a.offset === b.offset ? a : null;
      const outer = inner === a ? b : a;
      if (inner === null) problems.push(`${JSON.stringify(a)} and ${JSON.stringify(b)} cross`);
      else if (!mayHold(outer.type, inner.type)) problems.push(`${outer.type} holds ${inner.type} at ${inner.offset}`);
    }
  return problems;
}

function mayHold(outer: string, inner: string): boolean {
  if (outer === inner || outer === 'code' || outer === 'pre') return false;
  if (inner === 'code' || inner === 'pre') return quotes.includes(outer);
  if (quotes.includes(outer)) return !quotes.includes(inner);
  return styles.includes(outer) || styles.includes(inner);
}
