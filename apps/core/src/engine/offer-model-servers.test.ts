import { expect, test } from 'vitest';
import type { EngineView } from '@svc/contract/engine.ts';
import { offerModelServers } from './offer-model-servers.ts';

const address = 'https://openrouter.ai/api/v1';
const codex = (fields: Partial<EngineView>) =>
  [{ id: 'codex', installed: true, base_url: null, default: false, model: null, ...fields }] as EngineView[];
const env = { OPENROUTER_API_KEY: 'sk-or-x' };

test.each([
  [codex({ installed: false }), './svc engine install codex'],
  [codex({}), `./svc engine base-url codex ${address}`],
  [codex({ base_url: address }), './svc engine default codex'],
  [codex({ base_url: address, default: true }), null],
])('OPENROUTER_API_KEY in the environment gives an offer with the one command that uses it (%#)', (engines, connect) => {
  const [offer, ...others] = offerModelServers([], engines, env);
  expect(offer).toMatchObject({
    name: 'OpenRouter',
    base_url: address,
    connect,
    note: expect.stringMatching(/billed.*Choose a model/),
  });
  expect(JSON.stringify(offer)).not.toContain(env.OPENROUTER_API_KEY);
  expect(others).toEqual([]);
});

test('nothing is offered without the key, or with an empty one', () => {
  for (const none of [{}, { OPENROUTER_API_KEY: '' }]) expect(offerModelServers([], codex({}), none)).toEqual([]);
});

test('a configured model is not asked for again', () => {
  expect(offerModelServers([], codex({ model: 'x/y' }), env)[0]?.note).not.toContain('Choose a model');
});
