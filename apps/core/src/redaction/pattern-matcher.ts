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
  const next: Map<number, number>[] = [new Map()];
  const depths: number[] = [0];
  const matches: number[] = [0];
  const fails: number[] = [0];

  const addNode = (depth: number): number => {
    next.push(new Map());
    depths.push(depth);
    matches.push(0);
    fails.push(0);
    return next.length - 1;
  };
  for (const pattern of patterns) {
    let node = 0;
    for (let i = 0; i < pattern.length; i++) {
      const unit = pattern.charCodeAt(i);
      let child = next[node]!.get(unit);
      if (child === undefined) {
        child = addNode(i + 1);
        next[node]!.set(unit, child);
      }
      node = child;
    }
    matches[node] = pattern.length;
  }

  const step = (state: number, unit: number): number => {
    for (let node = state; ; node = fails[node]!) {
      const child = next[node]!.get(unit);
      if (child !== undefined) return child;
      if (node === 0) return 0;
    }
  };
  // Breadth first: a node's fallback is shallower and therefore known already.
  const queue = [...next[0]!.values()];
  for (const node of queue) {
    for (const [unit, child] of next[node]!) {
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
