import type { EngineEvent } from '@svc/engine-kit/engine.ts';

/** A script of the offline engine that answers with 64 tokens at once, for the cost of the service alone. */
const tokens = Array.from({ length: 64 }, (_, i) => `${['alpha', 'beta', 'gamma', 'delta'][i % 4]} `);

export async function* respond(): AsyncGenerator<EngineEvent> {
  for (const text of tokens) yield { type: 'delta', text };
  yield { type: 'segment', text: tokens.join('') };
}
