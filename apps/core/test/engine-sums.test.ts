import { expect, onTestFinished, test } from 'vitest';
import type { ModelUsage } from '@svc/contract/usage.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { ScriptedUsage } from '@svc/testing/model-server/scripted-reply.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { openEngineCore } from './open-engine-core.ts';
import { envelope } from './open-test-core.ts';

/** What makes another model answer within a turn, and the price of a million tokens of each. */
const cases = [
  {
    id: 'claude',
    model: 'claude-opus-5-5',
    prices: { in: 4, out: 20, cached: 0.2 },
    beside: 'claude-haiku-5-5',
    besidePrices: { in: 0.1, out: 0.5 },
    order: {
      tool: /^(Task|Agent)$/,
      input: { description: 'x', prompt: 'go', subagent_type: 'general-purpose', model: 'haiku' },
    },
  },
  {
    id: 'gemini',
    model: 'gemini-3.1-pro-preview',
    prices: { in: 2, out: 12, cached: 0.2 },
    beside: 'gemini-3-flash-preview',
    besidePrices: { in: 0.5, out: 3 },
    order: { tool: 'google_web_search', input: { query: 'x' } },
  },
] as const;

const large: ScriptedUsage = { input: 10_000, output: 1000, cacheRead: 5000, cacheWrite: 0, reasoning: 0 };
const small: ScriptedUsage = { input: 100_000, output: 20_000, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

for (const { id, model: own, prices, beside, besidePrices, order } of cases) {
  describeWithEngine(id, `what a turn of ${id} costs in which two models answer`, async (install) => {
    test('is the sum of what each model used, at its own price', async () => {
      const { core, model, close } = await openEngineCore(id, install, { SVC_ENGINE_MODEL: own });
      onTestFinished(close);
      model.script((request) => {
        if (request.model === beside) return { steps: [{ text: 'found' }], usage: small };
        return request.toolResults.length > 0
          ? { steps: [{ text: 'finished' }], usage: large }
          : { steps: [order], usage: large };
      });
      const result = (await core.handle(envelope('go'))).json<HandleResult>();
      expect(result).toMatchObject({ outcome: 'replied', actions: [{ text: 'finished' }] });
      expect(model.requests.map((request) => request.model)).toEqual([own, beside, own]);

      const ownCost = (20_000 * prices.in + 2000 * prices.out + 10_000 * prices.cached) / 1e6;
      const besideCost = (100_000 * besidePrices.in + 20_000 * besidePrices.out) / 1e6;
      expect(result.usage).toMatchObject({ input_tokens: 120_000, output_tokens: 22_000, cache_read_tokens: 10_000 });
      expect(result.usage?.cost_usd).toBeCloseTo(ownCost + besideCost, 9);
      const parts = new Map(result.usage?.by_model?.map((part): [string, ModelUsage] => [part.model, part]));
      expect([...parts.keys()].toSorted()).toEqual([own, beside].toSorted());
      expect(parts.get(own)).toMatchObject({ input_tokens: 20_000, cost_usd: expect.closeTo(ownCost, 9) });
      expect(parts.get(beside)).toMatchObject({ input_tokens: 100_000, cost_usd: expect.closeTo(besideCost, 9) });
    });
  });
}
