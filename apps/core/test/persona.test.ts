import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EnginePersona } from '@svc/contract/persona.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadEngine } from '../src/engine/load-engine.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeEach(async () => void (core = await openTestCore({ loadEngine })));
afterEach(() => core.close());

const read = async (route: string) => {
  const answer = await core.app.inject(`/v2/persona/${route}`);
  return { status: answer.statusCode, body: answer.json<EnginePersona & { error?: string }>() };
};
const [policies, engines] = [
  { SACRED: 'full', TRUSTED: 'full', KNOWN: 'read', GUEST: 'none' },
  ['claude', 'codex', 'gemini', 'offline'],
];

test('what each engine gives its model in a turn of each tier is shown, installed or not, with its size', async () => {
  writeFileSync(path.join(core.folder, 'persona.md'), 'Speak like a pirate.');
  for (const engine of engines) {
    for (const [tier, tool_policy] of Object.entries(policies)) {
      const { status, body } = await read(`${engine}?tier=${tier}`);
      expect([status, body]).toEqual([200, expect.objectContaining({ engine, tier, tool_policy, source: 'extended' })]);
      expect(body.text).toMatch(/^You are assistant,[^]*Speak like a pirate\./);
      expect(body.bytes).toBe(Buffer.byteLength(body.text));
    }
  }
});

test('the folder of its tools is named where there are any, and the owner is who is meant when nobody is named', async () => {
  expect((await read('claude?tier=GUEST')).body.text).not.toContain('folder');
  expect((await read('claude?tier=KNOWN')).body.text).toContain('<conversation>');
  expect((await read('claude')).body).toMatchObject({ tier: 'SACRED', text: expect.stringContaining(core.folder) as string });
});

test.each([
  ['nothing', 404],
  ['codex?tier=UNKNOWN', 400],
  ['codex?tier=guest', 400],
  ['codex?level=GUEST', 400],
])('%s is refused', async (route, status) => expect((await read(route)).status).toBe(status));
