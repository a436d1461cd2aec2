/**
 * Finds any of many fixed texts in a stream, in time linear in the stream (Aho-Corasick over UTF-16 code units).
 * The state's depth is the length of the longest end of what was read that some pattern begins with: text before that
 * can never become part of a later match.
 */
export type PatternMatcher = {
  readonly isEmpty: boolean;
  step(state: number, codeUnit: number): number;
  depth(state: number): number;
  /** Length of the longest pattern that ends at this state, or 0. */
  matchLength(state: number): number;
};

export function createPatternMatcher(patterns: readonly string[]): PatternMatcher {
  // Nearly every node but the root has one child, kept in two lists: a map for each would cost four times the memory.
  const units: number[] = [-1];
  const children: number[] = [0];
  const root = new Map<number, number>();
  const more = new Map<number, Map<number, number>>([[0, root]]);
  const depths: number[] = [0];
  const matches: number[] = [0];
  const fails: number[] = [0];

  const childOf = (node: number, unit: number): number | undefined =>
    units[node] === unit ? children[node] : more.get(node)?.get(unit);
  const addChild = (node: number, unit: number): number => {
    const child = depths.length;
    units.push(-1);
    children.push(0);
    depths.push(depths[node]! + 1);
    matches.push(0);
    fails.push(0);
    if (node !== 0 && units[node] === -1) {
      units[node] = unit;
      children[node] = child;
    } else {
      const others = more.get(node) ?? new Map<number, number>();
      more.set(node, others.set(unit, child));
    }
    return child;
  };
  for (const pattern of patterns) {
    let node = 0;
    for (let i = 0; i < pattern.length; i++) {
      const unit = pattern.charCodeAt(i);
      node = childOf(node, unit) ?? addChild(node, unit);
    }
    matches[node] = pattern.length;
  }

  const step = (state: number, unit: number): number => {
    for (let node = state; node !== 0; node = fails[node]!) {
      const child = childOf(node, unit);
      if (child !== undefined) return child;
    }
    return root.get(unit) ?? 0;
  };
  const edgesOf = (node: number): [number, number][] => {
    const first: [number, number][] = units[node] === -1 ? [] : [[units[node]!, children[node]!]];
    return [...first, ...(more.get(node) ?? [])];
  };
  // Breadth first: a node's fallback is shallower and therefore known already.
  const queue = [...root.values()];
  for (const node of queue) {
    for (const [unit, child] of edgesOf(node)) {
      fails[child] = step(fails[node]!, unit);
      matches[child] = Math.max(matches[child]!, matches[fails[child]]!);
      queue.push(child);
    }
  }

  return {
    isEmpty: patterns.length === 0,
    step,
    depth: (state) => depths[state]!,
    matchLength: (state) => matches[state]!,
  };
}
