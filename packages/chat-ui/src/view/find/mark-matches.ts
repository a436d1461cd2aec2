/** Names of the marks, as the style sheet has them. */
const allName = 'find';
const currentName = 'find-current';

/** Where a person's and the assistant's words stand in a row; labels and buttons are not searched. */
const wordPlaces = '.bubble > p, .markdown';

/** The places of the words in an element, in order; across bold and links, not across what has no words. `words`: in small letters. */
export function rangesIn(element: Element, words: string): Range[] {
  return [...element.querySelectorAll(wordPlaces)].flatMap((place) => rangesInPlace(place, words));
}

function rangesInPlace(place: Element, words: string): Range[] {
  const nodes = textNodesOf(place);
  const text = nodes.map(({ data }) => data.toLowerCase()).join('');
  // A letter that is longer when it is small would shift what comes after it: then nothing is marked, and the row alone is shown.
  if (text.length !== nodes.reduce((sum, { data }) => sum + data.length, 0)) return [];
  const ranges: Range[] = [];
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
    const range = document.createRange();
    range.setStart(...pointAt(nodes, at));
    range.setEnd(...pointAt(nodes, at + words.length - 1, 1));
    ranges.push(range);
  }
  return ranges;
}

function textNodesOf(place: Element): Text[] {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest('figcaption, button') === null ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT,
  );
  const nodes: Text[] = [];
  while (walker.nextNode() !== null) nodes.push(walker.currentNode as Text);
  return nodes;
}

/** The character at a place of all the text together; `past`: behind it. */
function pointAt(nodes: readonly Text[], at: number, past = 0): [node: Text, offset: number] {
  let rest = at;
  for (const node of nodes) {
    if (rest < node.length) return [node, rest + past];
    rest -= node.length;
  }
  throw new RangeError('There is no such place in the text.');
}

/** Marks places without touching the page's elements, where the browser can; `current` stands out. */
export function mark(all: readonly Range[], current: Range | undefined): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.set(allName, new Highlight(...all));
  CSS.highlights.set(currentName, new Highlight(...(current === undefined ? [] : [current])));
}

export const unmark = (): void => mark([], undefined);
