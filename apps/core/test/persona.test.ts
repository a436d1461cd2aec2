import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EnginePersona, PersonaList, PersonaView } from '@svc/contract/persona.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { engineIds, loadEngine } from '../src/engine/load-engine.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeEach(async () => void (core = await openTestCore({ loadEngine })));
afterEach(() => core.close());

const read = async (route: string) => {
  const answer = await core.app.inject(`/v2/persona/${route}`);
  return { status: answer.statusCode, body: answer.json<EnginePersona & { error?: string }>() };
};
const policies = { SACRED: 'full', TRUSTED: 'full', KNOWN: 'read', GUEST: 'none' };

test('the persona of each engine and tier is shown with its size, whether installed or not', async () => {
  writeFileSync(path.join(core.folder, 'persona.md'), 'Speak like a pirate.');
  for (const engine of engineIds) {
    for (const [tier, tool_policy] of Object.entries(policies)) {
      const { status, body } = await read(`${engine}?tier=${tier}`);
      expect([status, body]).toEqual([200, expect.objectContaining({ engine, tier, tool_policy, source: 'extended' })]);
      expect(body.text).toMatch(/^You are assistant,[^]*Speak like a pirate\./);
      expect(body.bytes).toBe(Buffer.byteLength(body.text));
    }
  }
});

test('the working folder is named where there are tools, and the default tier is SACRED', async () => {
  expect((await read('claude?tier=GUEST')).body.text).not.toContain('folder');
  expect((await read('claude?tier=KNOWN')).body.text).toContain('<conversation>');
  expect((await read('claude')).body).toMatchObject({ tier: 'SACRED', text: expect.stringContaining(core.folder) as string });
});

test.each([
  ['nothing', 404],
  ['codex?tier=UNKNOWN', 400],
  ['codex?tier=guest', 400],
  ['codex?level=GUEST', 400],
])('%s is rejected', async (route, status) => expect((await read(route)).status).toBe(status));

const usual = async () => (await core.app.inject('/v2/persona')).json<PersonaView>();
const put = async (route: string, body: object) => {
  const answer = await core.app.inject({ method: 'PUT', url: `/v2/${route}`, payload: body });
  return { status: answer.statusCode, message: answer.json<{ message?: string }>().message };
};
const remove = async (name: string) =>
  (await core.app.inject({ method: 'DELETE', url: `/v2/personas/${encodeURIComponent(name)}` })).statusCode;
const fileOf = (name: string) => path.join(core.folder, 'personas', `${name}.md`);

test('an edit applies at once, and an edit based on an outdated text is rejected', async () => {
  expect(await usual()).toMatchObject({ source: 'built-in', own: '' });
  expect(await put('persona', { own: 'Speak like a pirate.', was: '' })).toMatchObject({ status: 200 });
  expect(await usual()).toMatchObject({ source: 'extended', own: 'Speak like a pirate.' });
  const { status, message } = await put('persona', { own: 'Be brief.', was: '' });
  expect([status, message]).toEqual([409, expect.stringMatching(/changed in the meantime/)]);
  expect((await usual()).own).toBe('Speak like a pirate.');
  await put('persona', { own: '' });
  expect(await usual()).toMatchObject({ source: 'built-in', own: '' });
});

test('rejects a persona that is too long or contains a redaction mask', async () => {
  expect((await put('persona', { own: 'é'.repeat(10_000) })).status).toBe(413);
  expect((await put('persona', { own: 'The key is [redacted:secret].' })).status).toBe(400);
  expect(existsSync(path.join(core.folder, 'persona.md'))).toBe(false);
});

test('a persona of a channel is saved, listed with its users, and not deleted while in use', async () => {
  expect((await put('personas/butler', { own: 'Very well.' })).status).toBe(200);
  expect(readFileSync(fileOf('butler'), 'utf8')).toBe('Very well.');
  writeFileSync(path.join(core.folder, 'instance-rules.json'), JSON.stringify({ c1: { persona: 'butler' } }));
  await core.context.instanceRules.reload();
  expect((await core.app.inject('/v2/personas')).json<PersonaList>()).toEqual({
    personas: [{ name: 'butler', used_by: ['c1'] }],
  });
  expect(await remove('butler')).toBe(409);
  expect(existsSync(fileOf('butler'))).toBe(true);
  writeFileSync(path.join(core.folder, 'instance-rules.json'), JSON.stringify({}));
  await core.context.instanceRules.reload();
  expect(await remove('butler')).toBe(200);
  expect(await remove('butler')).toBe(404);
});

test.each(['.hidden', '../persona', 'Butler', 'a b', 'x'.repeat(65)])('%s is not a valid persona name', async (name) => {
  expect((await put(`personas/${encodeURIComponent(name)}`, { own: 'x' })).status).toBe(400);
  expect(await remove(name)).toBe(400);
});
