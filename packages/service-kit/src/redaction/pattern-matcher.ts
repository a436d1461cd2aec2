import type { Steps } from './pace.ts';

/**
 * Finds any of many fixed texts in a stream of UTF-16 units, in time linear in the stream (Aho-Corasick).
 * A state's depth is the length of the longest suffix of the input that is a prefix of some pattern: text before that
 * can never become part of a later match.
 */
export type PatternMatcher = {
  step(state: number, unit: number): number;
  depth(state: number): number;
  /** How many of the last units must be held back. */
  heldDepth(state: number): number;
  /** The state of the longest pattern that ends at this state, 0 if none does. */
  matchAt(state: number): number;
  /** The next shorter pattern that ends there, given the state of a match; 0 if there is none. */
  shorterMatch(match: number): number;
  /** The index of the pattern of a match. */
  patternOf(match: number): number;
};

/** From the root and from shallow nodes, each unit below this takes a single table look-up. */
const direct = 256;

/** How many nodes are made in one step. */
const stepNodes = 2048;

/**
 * Built in steps, because the patterns of many secrets would block the event loop too long. `skips`: how many units at the
 * beginning of each pattern may be let out before it is recognized.
 */
export function* buildPatternMatcher(patterns: readonly string[], skips: readonly number[]): Steps<PatternMatcher> {
  const trie = createTrie(patterns.reduce((sum, pattern) => sum + pattern.length, 1));
  let nodes = 0;
  for (const [at, pattern] of patterns.entries()) {
    trie.add(pattern, at, skips[at] ?? 0);
    nodes += pattern.length;
    if (nodes < stepNodes) continue;
    nodes = 0;
    yield;
  }
  yield* trie.link();
  return trie.matcher;
}

/** The nodes are columns of numbers, to save memory: secrets have many forms, and a process runs long. */
function createTrie(capacity: number) {
  const units = new Uint16Array(capacity);
  const firstChild = new Int32Array(capacity);
  const sibling = new Int32Array(capacity);
  const fails = new Int32Array(capacity);
  const depths = new Uint32Array(capacity);
  const held = new Uint32Array(capacity);
  const matches = new Int32Array(capacity);
  const patternOf = new Int32Array(capacity).fill(-1);
  /** The index of a node's row in the table, plus one. */
  const rowOf = new Uint16Array(capacity);
  let table = new Int32Array(0);
  let size = 1;

  const childOf = (node: number, unit: number): number => {
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
    return child;
  };
  const step = (state: number, unit: number): number => {
    for (let node = state; ; node = fails[node]!) {
      const row = rowOf[node]!;
      if (row !== 0 && unit < direct) return table[(row - 1) * direct + unit]!;
      const child = childOf(node, unit);
      if (child !== 0 || node === 0) return child;
    }
  };
  const addRow = (node: number): void => {
    const row = rowOf[node]! - 1;
    if (node !== 0) table.copyWithin(row * direct, 0, direct);
    for (let child = firstChild[node]!; child !== 0; child = sibling[child]!) {
      if (units[child]! < direct) table[row * direct + units[child]!] = child;
    }
  };
  /** For the shallow nodes, in which the matcher is most of the time. */
  const addTable = (): void => {
    const shallow = [0];
    for (let child = firstChild[0]!; child !== 0; child = sibling[child]!) shallow.push(child);
    table = new Int32Array(shallow.length * direct);
    for (const [at, node] of shallow.entries()) {
      rowOf[node] = at + 1;
      addRow(node);
    }
  };

  return {
    add(pattern: string, at: number, skip: number): void {
      let node = 0;
      for (let i = 0; i < pattern.length; i++) {
        const unit = pattern.charCodeAt(i);
        node = childOf(node, unit) || addChild(node, unit);
        held[node] = Math.max(held[node]!, i + 1 - skip);
      }
      patternOf[node] = at;
    },
    /** Breadth first: a node's fallback is shallower and therefore known already. */
    *link(): Steps<void> {
      addTable();
      const queue = new Int32Array(size);
      for (let head = 0, tail = 1; head < tail; head++) {
        if (head % stepNodes === 0) yield;
        const node = queue[head]!;
        for (let child = firstChild[node]!; child !== 0; child = sibling[child]!) {
          if (node !== 0) fails[child] = step(fails[node]!, units[child]!);
          held[child] = Math.max(held[child]!, held[fails[child]!]!);
          matches[child] = patternOf[child] === -1 ? matches[fails[child]!]! : child;
          queue[tail++] = child;
        }
      }
    },
    matcher: {
      step,
      depth: (state: number) => depths[state]!,
      heldDepth: (state: number) => held[state]!,
      matchAt: (state: number) => matches[state]!,
      shorterMatch: (match: number) => matches[fails[match]!]!,
      patternOf: (match: number) => patternOf[match]!,
    },
  };
}
