import type { TokenUsage } from '@svc/contract/usage.ts';

type Sized = { readonly length: number };

/** Usage of a turn whose engine reported none, at about four characters a token. */
export const estimateUsage = (texts: { input: Sized; output: Sized }): TokenUsage => ({
  input_tokens: Math.ceil(texts.input.length / 4),
  output_tokens: Math.ceil(texts.output.length / 4),
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  estimated: true,
  cost_usd: null,
});
