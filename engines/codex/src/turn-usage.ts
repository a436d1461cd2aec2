import type { TokenUsage } from '@svc/contract/usage.ts';
import type { TokenCounts } from './codex-messages.ts';

/**
 * Counts one turn. Codex reports running totals of the whole thread; what the thread had before the turn is the first
 * total seen less the request it belongs to.
 */
export function createTurnUsage(): {
  update(counts: { total: TokenCounts; last: TokenCounts }): void;
  read(): TokenUsage | null;
} {
  let before: TokenCounts | null = null;
  let total: TokenCounts | null = null;
  return {
    update(counts) {
      before ??= subtract(counts.total, counts.last);
      total = counts.total;
    },
    read: () => (before && total ? toUsage(subtract(total, before)) : null),
  };
}

const subtract = (a: TokenCounts, b: TokenCounts): TokenCounts => ({
  inputTokens: a.inputTokens - b.inputTokens,
  cachedInputTokens: a.cachedInputTokens - b.cachedInputTokens,
  cacheWriteInputTokens: a.cacheWriteInputTokens - b.cacheWriteInputTokens,
  outputTokens: a.outputTokens - b.outputTokens,
  reasoningOutputTokens: a.reasoningOutputTokens - b.reasoningOutputTokens,
});

/** Cached tokens are part of codex's input figure and not of ours. */
const toUsage = (counts: TokenCounts): TokenUsage => ({
  input_tokens: Math.max(0, counts.inputTokens - counts.cachedInputTokens - counts.cacheWriteInputTokens),
  output_tokens: counts.outputTokens,
  cache_read_tokens: counts.cachedInputTokens,
  cache_write_tokens: counts.cacheWriteInputTokens,
  thinking_tokens: counts.reasoningOutputTokens,
  estimated: false,
  cost_usd: null,
});
