import type { DetectionRule, Found, Opening } from './rules/rule.ts';
import { isWordUnit } from './unit-kinds.ts';

/** A word that opens a place, and the rules that are then applied to it. */
export type Keyword = { word: string; opening: Opening; isBound: boolean; rules: readonly number[] };

/**
 * Finds the keywords of all rules in one pass over a text, ignoring case. It is a table of states, so that a character
 * costs one look-up whatever the number of words.
 */
export type KeywordTable = {
  readonly rules: readonly DetectionRule[];
  readonly keywords: readonly Keyword[];
  /** The next state is `next[state * width + classes[unit]]`; units that occur in no keyword have class 0. */
  readonly next: Uint16Array;
  readonly classes: Uint8Array;
  readonly width: number;
  /** In this state and all above it, a keyword has just ended. */
  readonly firstHit: number;
  /** Indexes of the keywords that end at a state. */
  hits(state: number): readonly number[];
  /** True when the keyword of a token begins with this. */
  isTokenStart(lowerCase: string): boolean;
};

export function createKeywordTable(rules: readonly DetectionRule[]): KeywordTable {
  const keywords = collectKeywords(rules);
  const classes = new Uint8Array(0x10000);
  let width = 1;
  const classOf = (unit: number): number => (classes[unit] ||= width++);
  const paths = keywords.map(({ word }) => Array.from(word).map((char) => classOf(char.charCodeAt(0))));
  for (let unit = 65; unit <= 90; unit++) classes[unit] = classes[unit + 32]!;

  const trie = buildStates(paths, width);
  const order = hitsLast(trie.ends);
  const next = new Uint16Array(trie.ends.length * width);
  for (const [node, state] of order.entries()) {
    for (let unit = 0; unit < width; unit++) next[state * width + unit] = order[trie.next[node * width + unit]!]!;
  }
  const endsOf = new Map(trie.ends.map((ends, node) => [order[node]!, ends] as const).filter(([, ends]) => ends.length > 0));
  const starts = new Set(
    keywords
      .filter(({ opening }) => opening.endsWith('token') || opening === 'address')
      .flatMap(({ word }) => Array.from(word).map((_, i) => word.slice(0, i + 1))),
  );
  return {
    rules,
    keywords,
    next,
    classes,
    width,
    firstHit: trie.ends.length - endsOf.size,
    hits: (state) => endsOf.get(state) ?? [],
    isTokenStart: (text) => starts.has(text),
  };
}

function collectKeywords(rules: readonly DetectionRule[]): Keyword[] {
  const found = new Map<string, { word: string; opening: Opening; isBound: boolean; rules: number[] }>();
  for (const [index, { triggers }] of rules.entries()) {
    for (const { opening, words, isBound = false } of triggers) {
      for (const word of words) {
        const key = `${opening} ${isBound} ${word}`;
        const keyword = found.get(key) ?? { word, opening, isBound, rules: [] };
        if (!keyword.rules.includes(index)) keyword.rules.push(index);
        found.set(key, keyword);
      }
    }
  }
  return [...found.values()];
}

/** Aho-Corasick with every transition filled in. */
export function buildStates(paths: readonly number[][], width: number): { next: Int32Array; ends: number[][] } {
  const size = paths.reduce((sum, path) => sum + path.length, 1);
  const next = new Int32Array(size * width);
  const ends: number[][] = [[]];
  for (const [keyword, path] of paths.entries()) {
    let node = 0;
    for (const unit of path) {
      if (next[node * width + unit] === 0) next[node * width + unit] = ends.push([]) - 1;
      node = next[node * width + unit]!;
    }
    ends[node]!.push(keyword);
  }
  const fails = new Int32Array(ends.length);
  const queue = [0];
  for (const node of queue) {
    const fallback = fails[node]! * width;
    for (let unit = 0; unit < width; unit++) {
      const child = next[node * width + unit]!;
      const other = node === 0 ? 0 : next[fallback + unit]!;
      if (child === 0) {
        next[node * width + unit] = other;
        continue;
      }
      fails[child] = other;
      ends[child]!.push(...ends[other]!);
      queue.push(child);
    }
  }
  return { next, ends };
}

/** Renumbers the states so that those at which a keyword ends come last. */
function hitsLast(ends: readonly number[][]): number[] {
  const quiet = ends.filter((list) => list.length === 0).length;
  let atQuiet = 0;
  let atHit = quiet;
  return ends.map((list) => (list.length === 0 ? atQuiet++ : atHit++));
}

/** What the given rules find in a text: each is applied only where one of its keywords occurs. */
export function findIn(table: KeywordTable, rules: ReadonlySet<number>, text: string): Found[] {
  const found: Found[] = [];
  for (const [rule, hits] of hitsOf(table, rules, text)) found.push(...table.rules[rule]!.find(text, hits));
  return found;
}

/** Where the keywords of each rule begin, in order. */
function hitsOf(table: KeywordTable, rules: ReadonlySet<number>, text: string): Map<number, number[]> {
  const { next, classes, width, firstHit, keywords } = table;
  const hits = new Map<number, number[]>();
  let state = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    state = next[state * width + classes[unit]!]!;
    if (state < firstHit) continue;
    for (const index of table.hits(state)) {
      const { word, isBound, rules: asked } = keywords[index]!;
      const from = i + 1 - word.length;
      if (isBound && from > 0 && isWordUnit(text.charCodeAt(from - 1))) continue;
      for (const rule of asked) if (rules.has(rule)) addHit(hits, rule, from);
    }
  }
  return hits;
}

function addHit(hits: Map<number, number[]>, rule: number, from: number): void {
  const list = hits.get(rule);
  if (list === undefined) return void hits.set(rule, [from]);
  // A longer word ends later and may begin earlier.
  let at = list.length;
  while (at > 0 && list[at - 1]! > from) at--;
  if (list[at - 1] !== from) list.splice(at, 0, from);
}
