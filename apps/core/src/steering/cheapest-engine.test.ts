import { expect, test } from 'vitest';
import type { EngineAuth } from '@svc/engine-kit/engine.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import { enginesByPrice } from './cheapest-engine.ts';

type Known = Record<string, { auth: EngineAuth; model: string | null }>;

/** The engines that may answer turns, in their order, as they are asked for a title. */
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

test('what is billed for no token comes before what is, and the first in order before the others', async () => {
  const free = { auth: 'subscription', model: null } as const;
  expect(await asked({ claude: free, codex: { auth: 'local', model: null } })).toEqual(['claude', 'codex']);
  expect(await asked({ codex: { auth: 'api_key', model: 'dear' }, claude: free })).toEqual(['claude', 'codex']);
});

test('the engine with the cheaper model for titles comes first among those that bill tokens, one without a known price last', async () => {
  const gemini = { auth: 'api_key', model: 'dear too' } as const;
  expect(await asked({ codex: { auth: 'api_key', model: 'dear' }, gemini })).toEqual(['gemini', 'codex']);
  expect(await asked({ codex: { auth: 'api_key', model: 'who knows' }, gemini })).toEqual(['gemini', 'codex']);
});

test('the built-in engine is never asked', async () => {
  expect(await asked({ offline: { auth: 'none', model: null } })).toEqual([]);
  expect(await asked({ claude: { auth: 'subscription', model: null }, offline: { auth: 'none', model: null } })).toEqual([
    'claude',
  ]);
});
