import type { TokenUsage } from '@svc/contract/usage.ts';
import { usageOfModels } from '@svc/engine-kit/usage-of-models.ts';
import type { ClaudeResult } from './claude-messages.ts';

/** Tokens and list-price value of one turn, whose own model is `own`; null when it has used nothing. */
export function toUsage(
  { usage, model_usage_since_last_result: byModel = {} }: ClaudeResult,
  own: string | null,
): TokenUsage | null {
  const models = Object.entries(byModel).map(([model, used]) => ({
    model,
    input_tokens: used.inputTokens,
    output_tokens: used.outputTokens,
    cache_read_tokens: used.cacheReadInputTokens,
    cache_write_tokens: used.cacheCreationInputTokens,
    ...(used.thinkingTokens !== undefined && { thinking_tokens: used.thinkingTokens }),
    cost_usd: used.costBasis === 'list' ? used.costUSD : null,
  }));
  return usageOfModels(models, own) ?? usageOfModels([ofMainModel(usage, own ?? '')], own ?? '');
}

/** Without sums by model, what the answers of the turn's own model have used. */
const ofMainModel = (usage: ClaudeResult['usage'], own: string) => ({
  model: own,
  input_tokens: usage.input_tokens,
  output_tokens: usage.output_tokens,
  cache_read_tokens: usage.cache_read_input_tokens,
  cache_write_tokens: usage.cache_creation_input_tokens,
  cost_usd: null,
});
