/** The tokens of one `token-usage` event. With a `feature` it is a metered side call, not a turn. */
export type EventUsage = {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  estimated: boolean;
  /** The number of turns that used them; one by default. */
  turns: number;
  principal: string | null;
  side: SideCall | null;
};

export type SideCall = { feature: string; provider: string; model: string; units: string; quantity: number };

/** Far above any real turn, and low enough that sums over years stay exact numbers. */
const maxCount = 1_000_000_000;
const maxNameLength = 256;

/** Reads the payload of a `token-usage` event. A missing number counts as 0; an invalid field is an error. */
export function parseUsage(payload: Record<string, unknown>): EventUsage | { error: string } {
  const wrong = firstWrong(payload);
  if (wrong !== null) return { error: wrong };
  const count = (field: string): number => Math.round((payload[field] as number | null | undefined) ?? 0);
  const usage: EventUsage = {
    input_tokens: count('input_tokens'),
    output_tokens: count('output_tokens'),
    cache_read_tokens: count('cache_read_tokens'),
    cache_write_tokens: count('cache_write_tokens'),
    estimated: payload['estimated'] === true,
    turns: Math.round((payload['turns'] as number | null | undefined) ?? 1),
    principal: name(payload, 'principal'),
    side: null,
  };
  const feature = name(payload, 'feature');
  return feature === null ? usage : { ...usage, side: readSideCall(feature, payload, usage) };
}

function readSideCall(feature: string, payload: Record<string, unknown>, usage: EventUsage): SideCall {
  return {
    feature,
    provider: name(payload, 'provider') ?? 'unknown',
    model: name(payload, 'model') ?? 'unknown',
    units: name(payload, 'units') ?? 'tokens',
    quantity: (payload['quantity'] as number | null | undefined) ?? usage.input_tokens + usage.output_tokens,
  };
}

const counts = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'thinking_tokens',
  'quantity',
  'turns',
];
const names = ['feature', 'provider', 'model', 'units', 'principal', 'engine_id'];

function firstWrong(payload: Record<string, unknown>): string | null {
  for (const field of counts) {
    const value = payload[field] ?? 0;
    if (typeof value !== 'number' || !(value >= 0 && value <= maxCount)) {
      return `payload.${field} must be a number from 0 to ${maxCount}`;
    }
  }
  for (const field of names) {
    const value = payload[field] ?? '';
    if (typeof value !== 'string' || value.length > maxNameLength) {
      return `payload.${field} must be a string of at most ${maxNameLength} characters`;
    }
  }
  return typeof (payload['estimated'] ?? false) === 'boolean' ? null : 'payload.estimated must be true or false';
}

/** A non-empty text or null; its type was checked before. */
const name = (payload: Record<string, unknown>, field: string): string | null =>
  (payload[field] as string | null | undefined) || null;
