import type { TokenUsage } from '@svc/contract/usage.ts';
import type { ClaudeResult } from './claude-messages.ts';

/** Tokens and list-price value of one turn. */
export function toUsage({ usage, model_usage_since_last_result: byModel }: ClaudeResult): TokenUsage {
  const models = Object.values(byModel ?? {});
  const thinking = models.reduce((sum, model) => sum + (model.thinkingTokens ?? 0), 0);
  const isPriced = models.length > 0 && models.every((model) => model.costBasis === 'list');
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_tokens: usage.cache_read_input_tokens,
    cache_write_tokens: usage.cache_creation_input_tokens,
    ...(thinking > 0 && { thinking_tokens: thinking }),
    estimated: false,
    cost_usd: isPriced ? models.reduce((sum, model) => sum + model.costUSD, 0) : null,
  };
}
