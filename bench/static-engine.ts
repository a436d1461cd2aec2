import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';

/**
 * A script of the offline engine for the cost of the service alone: it answers as the mock does, 64 tokens in one
 * piece, or with a model id such as `mock-n20-gap20` 20 tokens, 20 ms apart.
 */
const words = ['alpha', 'beta', 'gamma', 'delta'];

type Script = { tokens: string[]; text: string; gapMs: number };

const known = new Map<string, Script>();

/** Made once for each model, as the mock does: the engine's own work is not what is measured. */
function scriptOf(model: string): Script {
  const [, count = '64', gap = '0'] = /-n(\d+)(?:-gap(\d+))?/.exec(model) ?? [];
  const tokens = Array.from({ length: Number(count) }, (_, i) => `${words[i % words.length]} `);
  const script = { tokens, text: tokens.join(''), gapMs: Number(gap) };
  known.set(model, script);
  return script;
}

export async function* respond({ facts }: EngineRequest): AsyncGenerator<EngineEvent> {
  const model = String(facts.channel_context['requested_model']);
  const { tokens, text, gapMs } = known.get(model) ?? scriptOf(model);
  if (gapMs === 0) {
    yield { type: 'delta', text };
  } else {
    for (const token of tokens) {
      await new Promise((resolve) => setTimeout(resolve, gapMs));
      yield { type: 'delta', text: token };
    }
  }
  yield { type: 'segment', text };
}
