/**
 * Finds any of many fixed texts in a stream, in time linear in the stream (Aho-Corasick over UTF-16 code units).
 * The state's depth is the length of the longest end of what was read that some pattern begins with: text before that
 * can never become part of a later match.
 */
export type PatternMatcher = {
  readonly isEmpty: boolean;
  /**
   * Index of the first unit from `from` on at which a pattern may begin, `text.length` if there is none. Only from state
   * 0. Ordinary text is passed over by this without a step for each unit.
   */
  firstStart(text: string, from: number): number;
  step(state: number, codeUnit: number): number;
  depth(state: number): number;
  /** Length of the longest pattern that ends at this state, or 0. */
  matchLength(state: number): number;
};

const ascii = 128;

/** Patterns have at least four units and no line breaks. */
export function createPatternMatcher(patterns: readonly string[]): PatternMatcher {
  const trie = createTrie(patterns.reduce((sum, pattern) => sum + pattern.length, 1));
  for (const pattern of patterns) trie.add(pattern);
  trie.link();
  const starts = startsOf(patterns);

  return {
    isEmpty: patterns.length === 0,
    firstStart(text, from) {
      let units = 0;
      for (let i = from; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        if (unit === 10 || unit === 13) return Math.max(from, i - (window - 1)); // an occurrence may have a break in it
        units = (units << 8) ^ unit;
        const bit = toBit(units);
        if (((starts[bit >>> 5]! >>> (bit & 31)) & 1) === 1 && i - from >= window - 1) return i - (window - 1);
      }
      return Math.max(from, text.length - (window - 1));
    },
    step: trie.step,
    depth: trie.depth,
    matchLength: trie.matchLength,
  };
}

/** So many units are looked at together. */
const window = 4;

/** The last four units as one of 65,536 bits. */
const toBit = (units: number): number => Math.imul(units, 0x9e3779b1) >>> 16;

/** A bit for the first units that a pattern begins with: ordinary text rarely has one of them. */
function startsOf(patterns: readonly string[]): Uint32Array {
  const starts = new Uint32Array(0x10000 / 32);
  for (const pattern of patterns) {
    let units = 0;
    for (let i = 0; i < window; i++) units = (units << 8) ^ pattern.charCodeAt(i);
    const bit = toBit(units);
    starts[bit >>> 5] = (starts[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
  return starts;
}

/** Nodes as columns of numbers: a process lives long, and its secrets have many spellings. */
function createTrie(capacity: number) {
  const units = new Uint16Array(capacity);
  const firstChild = new Int32Array(capacity);
  const sibling = new Int32Array(capacity);
  const fails = new Int32Array(capacity);
  const depths = new Uint32Array(capacity);
  const matches = new Uint32Array(capacity);
  const rootChildren = new Int32Array(ascii);
  let wideStarts = false;
  let size = 1;

  const childOf = (node: number, unit: number): number => {
    if (node === 0 && unit < ascii) return rootChildren[unit]!;
    if (node === 0 && !wideStarts) return 0;
    let child = firstChild[node]!;
    while (child !== 0 && units[child] !== unit) child = sibling[child]!;
    return child;
  };
  const addChild = (node: number, unit: number): number => {
    const child = size++;
    units[child] = unit;
    depths[child] = depths[node]! + 1;
    sibling[child] = firstChild[node]!;
    firstChild[node] = child;
    if (node === 0 && unit < ascii) rootChildren[unit] = child;
    else if (node === 0) wideStarts = true;
    return child;
  };
  const step = (state: number, unit: number): number => {
    for (let node = state; node !== 0; node = fails[node]!) {
      const child = childOf(node, unit);
      if (child !== 0) return child;
    }
    return childOf(0, unit);
  };

  return {
    add(pattern: string): void {
      let node = 0;
      for (let i = 0; i < pattern.length; i++) {
        const unit = pattern.charCodeAt(i);
        node = childOf(node, unit) || addChild(node, unit);
      }
      matches[node] = pattern.length;
    },
    /** Breadth first: a node's fallback is shallower and therefore known already. */
    link(): void {
      const queue = new Int32Array(size);
      for (let head = 0, tail = 1; head < tail; head++) {
        const node = queue[head]!;
        for (let child = firstChild[node]!; child !== 0; child = sibling[child]!) {
          if (node !== 0) fails[child] = step(fails[node]!, units[child]!);
          matches[child] = Math.max(matches[child]!, matches[fails[child]!]!);
          queue[tail++] = child;
        }
      }
    },
    step,
    depth: (state: number) => depths[state]!,
    matchLength: (state: number) => matches[state]!,
  };
}
