import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';

/**
 * A script of the offline engine for the cost of the service alone: it answers as the mock does, 64 tokens in one
 * piece, or with a model id such as `mock-n20-gap20` 20 tokens, 20 ms apart.
 */
const words = ['alpha', 'beta', 'gamma', 'delta'];

const known = new Map<number, string[]>();

function tokensOf(count: number): string[] {
  const tokens = known.get(count) ?? Array.from({ length: count }, (_, i) => `${words[i % words.length]} `);
  known.set(count, tokens);
  return tokens;
}

export async function* respond({ facts }: EngineRequest): AsyncGenerator<EngineEvent> {
  const [, count = '64', gap = '0'] = /-n(\d+)(?:-gap(\d+))?/.exec(String(facts.channel_context['requested_model'])) ?? [];
  const tokens = tokensOf(Number(count));
  if (gap === '0') {
    yield { type: 'delta', text: tokens.join('') };
  } else {
    for (const text of tokens) {
      await new Promise((resolve) => setTimeout(resolve, Number(gap)));
      yield { type: 'delta', text };
    }
  }
  yield { type: 'segment', text: tokens.join('') };
}
