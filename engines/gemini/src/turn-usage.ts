import type { ModelUsage, TokenUsage } from '@svc/contract/usage.ts';
import { usageOfModels } from '@svc/engine-kit/usage-of-models.ts';
import type { GeminiStats, GeminiTokens } from './gemini-messages.ts';

/** Tokens of one turn, whose own model is `own`; null when it has used none. */
export function toUsage(stats: GeminiStats, own: string | null): TokenUsage | null {
  const models = Object.entries(stats.models ?? {}).map(([model, tokens]) => ofModel(model, tokens));
  return usageOfModels(models, own) ?? usageOfModels([ofModel(own ?? '', stats)], own ?? '');
}

/** The program leaves thinking out of the reply's tokens, as the vendor's bill does not. */
function ofModel(model: string, tokens: GeminiTokens): ModelUsage {
  const thinking = Math.max(0, tokens.total_tokens - tokens.input_tokens - tokens.output_tokens);
  return {
    model,
    input_tokens: Math.max(0, tokens.input_tokens - tokens.cached),
    output_tokens: tokens.output_tokens + thinking,
    cache_read_tokens: tokens.cached,
    cache_write_tokens: 0,
    ...(thinking > 0 && { thinking_tokens: thinking }),
    cost_usd: null,
  };
}
