import type { TokenUsage } from '@svc/contract/usage.ts';
import type { GeminiStats } from './gemini-messages.ts';

/** Tokens of one turn. The program leaves thinking out of the reply's tokens, as the vendor's bill does not. */
export function toUsage(stats: GeminiStats): TokenUsage {
  const thinking = Math.max(0, stats.total_tokens - stats.input_tokens - stats.output_tokens);
  return {
    input_tokens: Math.max(0, stats.input_tokens - stats.cached),
    output_tokens: stats.output_tokens + thinking,
    cache_read_tokens: stats.cached,
    cache_write_tokens: 0,
    ...(thinking > 0 && { thinking_tokens: thinking }),
    estimated: false,
    cost_usd: null,
  };
}
