import type { KeywordTable } from './keyword-table.ts';
import type { Found } from './rules/rule.ts';
import { isWordUnit } from './unit-kinds.ts';

/** What some rules find in a text: each is only asked where one of its keywords stands. */
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
    state = next[state * width + (unit < 128 ? classes[unit]! : 0)]!;
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
