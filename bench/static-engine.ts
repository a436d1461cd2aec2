import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';

/**
 * A script of the offline engine for the cost of the service alone: it answers as the mock does, 64 tokens at once, or
 * with a model id such as `mock-n20-gap20` 20 tokens, 20 ms apart.
 */
const words = ['alpha', 'beta', 'gamma', 'delta'];

export async function* respond({ facts }: EngineRequest): AsyncGenerator<EngineEvent> {
  const [, count = '64', gap = '0'] = /-n(\d+)(?:-gap(\d+))?/.exec(String(facts.channel_context['requested_model'])) ?? [];
  let whole = '';
  for (let i = 0; i < Number(count); i++) {
    if (gap !== '0') await new Promise((resolve) => setTimeout(resolve, Number(gap)));
    const text = `${words[i % words.length]} `;
    whole += text;
    yield { type: 'delta', text };
  }
  yield { type: 'segment', text: whole };
}
