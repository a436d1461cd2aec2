/** Ends what is half written at the end of a text that still streams, so that no mark shows for a moment and then goes. */
export function closeMarkdown(text: string): string {
  const begin = text.lastIndexOf('\n\n') + 1;
  const head = text.slice(0, begin);
  let tail = text.slice(begin);
  if (tail.length > 4000) return text;
  tail = tail.replace(/!?\[([^\]\n]*)\]\([^)\s]*$/, '$1').replace(/!?\[([^\]\n]*)$/, '$1');
  if (count(tail, '`') % 2 === 1) return head + endedBy(tail, '`');
  const bare = tail.replaceAll(/`[^`]*`/g, '');
  if (count(bare, '**') % 2 === 1) tail = endedBy(tail, '**');
  if (count(bare, '~~') % 2 === 1) tail = endedBy(tail, '~~');
  return head + tail;
}

const count = (text: string, mark: string): number => text.split(mark).length - 1;

/** A mark that stands alone at the end opens nothing yet. */
const endedBy = (text: string, mark: string): string =>
  text.endsWith(mark) ? text.slice(0, -mark.length) : text.trimEnd() + mark + (/\s*$/.exec(text)?.[0] ?? '');
