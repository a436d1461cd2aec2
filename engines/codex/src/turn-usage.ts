import type { TokenUsage } from '@svc/contract/usage.ts';
import type { TokenCounts } from './codex-messages.ts';

/** The usage of one turn. */
export type TurnUsage = {
  update(counts: { total: TokenCounts; last: TokenCounts }): void;
  read(): TokenUsage | null;
  /** The running totals of the thread, for its next turn; null while they are unknown. */
  total(): TokenCounts | null;
};

/**
 * Computes the usage of one turn, because codex reports running totals of the whole thread. `before`: the totals at the beginning of the
 * turn; the first report within the turn may belong to the previous one. If unknown, it is the first total minus the request to which it
 * belongs.
 */
export function createTurnUsage(before: TokenCounts | null): TurnUsage {
  let start = before;
  let total = before;
  return {
    update(counts) {
      start ??= subtract(counts.total, counts.last);
      total = counts.total;
    },
    read: () => (start === null || total === null || total === before ? null : toUsage(subtract(total, start))),
    total: () => total,
  };
}

export const noCounts: TokenCounts = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

const subtract = (a: TokenCounts, b: TokenCounts): TokenCounts => ({
  inputTokens: a.inputTokens - b.inputTokens,
  cachedInputTokens: a.cachedInputTokens - b.cachedInputTokens,
  cacheWriteInputTokens: a.cacheWriteInputTokens - b.cacheWriteInputTokens,
  outputTokens: a.outputTokens - b.outputTokens,
  reasoningOutputTokens: a.reasoningOutputTokens - b.reasoningOutputTokens,
});

/** Codex's input figure includes cached tokens, ours does not. */
const toUsage = (counts: TokenCounts): TokenUsage => ({
  input_tokens: Math.max(0, counts.inputTokens - counts.cachedInputTokens - counts.cacheWriteInputTokens),
  output_tokens: counts.outputTokens,
  cache_read_tokens: counts.cachedInputTokens,
  cache_write_tokens: counts.cacheWriteInputTokens,
  thinking_tokens: counts.reasoningOutputTokens,
  estimated: false,
  cost_usd: null,
});
