import type { ModelUsage, TokenUsage } from '@svc/contract/usage.ts';

type Sized = { readonly length: number };

/** Estimated usage of a turn whose engine reported none, at about four characters per token. */
export const estimateUsage = (texts: { input: Sized; output: Sized }): TokenUsage => ({
  input_tokens: Math.ceil(texts.input.length / 4),
  output_tokens: Math.ceil(texts.output.length / 4),
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  estimated: true,
  cost_usd: null,
});

/**
 * The usage of a turn from that of its models; null when there is none. The parts are kept when they are needed for the price: when there
 * are several, or when the only one is not `own`, the turn's model.
 */
export function usageOfModels(models: readonly ModelUsage[], own: string | null): TokenUsage | null {
  const parts = models.filter(isUsed);
  if (parts.length === 0) return null;
  const sum = (read: (part: ModelUsage) => number | null) => parts.reduce((total, part) => total + (read(part) ?? 0), 0);
  const thinking = sum((part) => part.thinking_tokens ?? 0);
  const forHour = sum((part) => part.cache_write_1h_tokens ?? 0);
  return {
    input_tokens: sum((part) => part.input_tokens),
    output_tokens: sum((part) => part.output_tokens),
    cache_read_tokens: sum((part) => part.cache_read_tokens),
    cache_write_tokens: sum((part) => part.cache_write_tokens),
    ...(forHour > 0 && { cache_write_1h_tokens: forHour }),
    ...(thinking > 0 && { thinking_tokens: thinking }),
    estimated: false,
    cost_usd: parts.some((part) => part.cost_usd === null) ? null : sum((part) => part.cost_usd),
    ...((parts.length > 1 || parts[0]?.model !== own) && { by_model: parts }),
  };
}

const isUsed = (part: ModelUsage): boolean =>
  part.input_tokens + part.output_tokens + part.cache_read_tokens + part.cache_write_tokens > 0;
