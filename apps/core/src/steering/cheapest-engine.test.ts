import { expect, test } from 'vitest';
import type { EngineAuth } from '@svc/engine-kit/engine.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import { enginesByPrice } from './cheapest-engine.ts';

type Known = Record<string, { auth: EngineAuth; model: string | null }>;

/** The order in which these engines are asked for a title. */
async function asked(known: Known): Promise<string[]> {
  const active = (id: string) =>
    ({ choice: { id, model: known[id]?.model ?? null, why: '' }, auth: known[id]?.auth ?? 'none' }) as ActiveEngine;
  const ids = Object.keys(known);
  const found = await enginesByPrice({
    engines: { active: () => Promise.resolve(active(ids[0] ?? '')), open: (id) => Promise.resolve(active(id)) },
    engineFallback: { order: () => ({ ids, passedOver: [] }) },
    pricing: { inputPrice: (model) => ({ dear: 10, 'gemini-3.5-flash-lite': 0.3 })[model] ?? null },
  });
  return found.map(({ choice }) => choice.id);
}

test('engines without a price per token come before those that bill tokens, and keep their order', async () => {
  const free = { auth: 'subscription', model: null } as const;
  expect(await asked({ claude: free, codex: { auth: 'local', model: null } })).toEqual(['claude', 'codex']);
  expect(await asked({ codex: { auth: 'api_key', model: 'dear' }, claude: free })).toEqual(['claude', 'codex']);
});

test('engines that bill tokens are sorted by the price of their title model, unknown prices last', async () => {
  const gemini = { auth: 'api_key', model: 'dear too' } as const;
  expect(await asked({ codex: { auth: 'api_key', model: 'dear' }, gemini })).toEqual(['gemini', 'codex']);
  expect(await asked({ codex: { auth: 'api_key', model: 'who knows' }, gemini })).toEqual(['gemini', 'codex']);
});

test('the built-in offline engine is never used', async () => {
  expect(await asked({ offline: { auth: 'none', model: null } })).toEqual([]);
  expect(await asked({ claude: { auth: 'subscription', model: null }, offline: { auth: 'none', model: null } })).toEqual([
    'claude',
  ]);
});
