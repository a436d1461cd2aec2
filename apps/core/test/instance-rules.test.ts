import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { InstanceRules, RuleProblem } from '@svc/contract/instance-rules.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { CreateEngine, EngineProbe } from '@svc/engine-kit/engine.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { createScriptedEngine, says, type ScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EngineId } from '../src/engine/load-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const probe = (installed: boolean): EngineProbe => ({
  installed,
  version: '1',
  path: null,
  auth: 'subscription',
  ready: installed,
  reason: '',
});
const engines = new Map<EngineId, ScriptedEngine>();
const engineOf = (id: EngineId): ScriptedEngine => {
  const known = engines.get(id);
  if (known !== undefined) return known;
  const engine = createScriptedEngine(id);
  engine.script(async function* () {
    yield* says(`${id} answers`);
  });
  engines.set(id, engine);
  return engine;
};
let core: TestCore;

beforeEach(async () => {
  engines.clear();
  const loadEngine = (id: EngineId): Promise<CreateEngine> =>
    Promise.resolve(() => ({ ...engineOf(id), probe: () => Promise.resolve(probe(id !== 'gemini')) }));
  core = await openTestCore({ env: { SVC_DEFAULT_ENGINE: 'claude' }, loadEngine });
  await core.addPrincipal('kim', 'known');
});
afterEach(() => core.close());

/** Sets the rules of the instance `c1`, as the manager does; its conversations are `compat:c1:…`. */
async function set(rules: InstanceRules): Promise<void> {
  writeFileAtomic(path.join(core.folder, 'instance-rules.json'), JSON.stringify({ c1: rules }));
  await core.app.inject({ method: 'POST', url: '/v2/instances/reload', payload: {} });
}
let serial = 0;
async function say(sender = 'owner', over: Partial<Envelope> = {}): Promise<HandleResult & { message?: string }> {
  const message_id = `m-${++serial}`;
  return (await core.handle(envelope('hello', { message_id, sender: { raw_id: sender }, ...over }))).json();
}
const ofInstance = (id: string): Partial<Envelope> => ({ conversation_key: `compat:${id}:key` });
const replyOf = ({ actions }: HandleResult) => actions.map(({ text }) => text).join();
const check = async (rules: object) => {
  const answer = await core.app.inject({ method: 'POST', url: '/v2/instances/check', payload: { rules } });
  return answer.json<{ problems: RuleProblem[] }>().problems;
};
const amendAs = async (as: object) => {
  const payload = { conversation_key: 'compat:c1:key', message_id: 'm-0', version: 1, text: 'bye', as };
  return (await core.app.inject({ method: 'POST', url: '/v2/amend', payload })).json<{ outcome: string }>().outcome;
};
const lastOf = (id: EngineId) => engines.get(id)?.requests.at(-1);

test('the engine and model of an instance apply to its turns only', async () => {
  await set({ engine: 'codex', model: 'gpt-x' });
  expect(await say('owner', ofInstance('c1'))).toMatchObject({ engine_id: 'codex' });
  expect(lastOf('codex')?.model).toBe('gpt-x');
  expect(await say('owner', ofInstance('c2'))).toMatchObject({ engine_id: 'claude' });
  const status = await say('owner', { ...ofInstance('c1'), content: { text: '/status' } });
  expect(replyOf(status)).toContain('Engine: codex, model gpt-x. It is set for this connector.');
  await set({});
  expect(await say('owner', ofInstance('c1'))).toMatchObject({ engine_id: 'claude' });
});

test('a turn fails with the reason when the engine of its instance no longer exists', async () => {
  await set({ engine: 'nemo' });
  expect(await say('owner', ofInstance('c1'))).toMatchObject({ error: 'unprocessable' });
});

test('the folder of an instance is for full rights only, and a folder set by command overrides it', async () => {
  const place = temporaryFolder();
  try {
    const [cwd = '', other = ''] = ['cwd', 'other'].map((name) => path.join(realpathSync(place.path), name));
    mkdirSync(cwd);
    mkdirSync(other);
    await set({ cwd: `${cwd}/` });
    await say('owner', ofInstance('c1'));
    expect(lastOf('claude')?.cwd).toBe(cwd);
    await say('kim', ofInstance('c1'));
    expect(lastOf('claude')?.cwd).toContain('workspaces');
    await core.app.inject({ method: 'PUT', url: '/v2/folders', payload: { instance_id: 'c1', cwd: other } });
    await say('owner', ofInstance('c1'));
    expect(lastOf('claude')?.cwd).toBe(other);
    await core.app.inject({ method: 'PUT', url: '/v2/folders', payload: { instance_id: 'c1', cwd: null } });
    rmSync(cwd, { recursive: true });
    expect(await say('owner', ofInstance('c1'))).toMatchObject({ error: 'unprocessable' });
  } finally {
    place.remove();
  }
});

test('the persona of an instance replaces the default one, and a missing persona fails the turn', async () => {
  const folder = path.join(core.folder, 'personas');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'shop.md'), '<!-- replace -->\nYou sell shoes.');
  await set({ persona: 'shop' });
  await say('owner', ofInstance('c1'));
  expect(lastOf('claude')?.system).toBe('You sell shoes.');
  await say('owner', ofInstance('c2'));
  expect(lastOf('claude')?.system).not.toContain('shoes');
  await set({ persona: 'gone' });
  expect(await say('owner', ofInstance('c1'))).toMatchObject({ error: 'unprocessable' });
});

test('"allow" denies everyone whom it does not name like strangers, without listing them as pending', async () => {
  await set({ allow: ['kim'] });
  expect(await say('kim', ofInstance('c1'))).toMatchObject({ outcome: 'replied' });
  const denied = await say('owner', ofInstance('c1'));
  expect([denied.outcome, replyOf(denied)]).toEqual(['denied', 'no access']);
  expect(await say('owner', ofInstance('c2'))).toMatchObject({ outcome: 'replied' });
  await set({ allow: ['role:owner'] });
  expect(await say('owner', ofInstance('c1'))).toMatchObject({ outcome: 'replied' });
  expect(await say('kim', ofInstance('c1'))).toMatchObject({ outcome: 'denied' });
  expect(await core.context.pending.list()).toEqual([]);
});

test('a stranger still gets a pairing code where an instance restricts access', async () => {
  await set({ allow: ['kim'] });
  const answer = await say('stranger', { ...ofInstance('c1'), intake: { pairing: true } });
  expect(replyOf(answer)).toMatch(/^no access\nTo get access, give this code/);
});

test('removing a person from "allow" aborts their running turn', async () => {
  const begun = Promise.withResolvers<void>();
  engineOf('claude').script(async function* (_request, signal) {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield { type: 'aborted' };
  });
  const running = say('kim', ofInstance('c1'));
  await begun.promise;
  await set({ allow: ['role:owner'] });
  expect(await running).toMatchObject({ outcome: 'aborted' });
});

test('a public instance overrides its envelopes: trust is capped, and strangers get no reply', async () => {
  await set({ public: true });
  await say('owner', { ...ofInstance('c1'), public: false });
  expect(lastOf('claude')?.facts).toMatchObject({ tier: 'TRUSTED', public: true });
  expect((await say('stranger', { ...ofInstance('c1'), intake: { pairing: true } })).actions).toEqual([]);
  expect(await say('owner', ofInstance('c2'))).toMatchObject({ outcome: 'replied' });
  expect(lastOf('claude')?.facts.public).toBe(false);
});

test('each invalid rule is reported by its field', async () => {
  expect(await check({ allow: ['owner', 'kim', 'role:known'], engine: 'codex', model: 'x' })).toEqual([]);
  expect(await check({ engine: 'nemo' })).toEqual([{ field: 'engine', problem: expect.stringContaining('there are claude') }]);
  expect(await check({ engine: 'gemini' })).toEqual([{ field: 'engine', problem: expect.stringContaining('not installed') }]);
  expect(await check({ model: 'x' })).toEqual([{ field: 'model', problem: expect.stringContaining('needs the engine') }]);
  expect(await check({ cwd: core.folder })).toEqual([{ field: 'cwd', problem: expect.stringContaining('data folder') }]);
  expect(await check({ cwd: 'relative' })).toEqual([{ field: 'cwd', problem: expect.stringContaining('not an absolute path') }]);
  expect(await check({ persona: 'gone' })).toEqual([{ field: 'persona', problem: expect.stringContaining('personas/gone.md') }]);
  expect(await check({ allow: ['kim', 'role:nobody', 'ann'] })).toEqual([
    { field: 'allow', problem: 'names people or roles that do not exist: "role:nobody", "ann"' },
  ]);
  expect(await check({ persona: '../trust' })).toBeUndefined();
});

test('rules that became invalid later are reported in /health', async () => {
  await set({ persona: 'gone', allow: ['nobody'] });
  const health = async () => (await core.app.inject({ method: 'GET', url: '/health' })).json<{ notices: string[] }>();
  const notices = async () => (await health()).notices.filter((notice) => notice.includes('c1'));
  await notices();
  await expect
    .poll(notices)
    .toEqual([
      expect.stringContaining('the setting persona of the connector c1 names a persona'),
      'the setting allow of the connector c1 names people or roles that do not exist: "nobody"',
    ]);
});

test('an amendment is checked against the instance of its conversation, not the one it names', async () => {
  await set({ allow: ['role:owner'] });
  for (const named of [{}, { instance_id: 'c2' }, { conversation_key: 'compat:c2:key' }])
    expect(await amendAs({ channel: 'compat', sender: { raw_id: 'kim' }, ...named })).toBe('denied');
  expect(await amendAs({ channel: 'compat', sender: { raw_id: 'owner' } })).toBe('unknown');
});

test('an answer to a question is checked against the instance of its conversation, not the one it names', async () => {
  await set({ public: true });
  const { asks } = core.context;
  const facts = { text: 'Go on?', for: 'p', expires_at: 2 ** 50, turn_id: 't', asked_at: 0, public: false };
  void asks.open({ id: 'ask_1', conversation_key: 'compat:c1:key', options: [{ id: 'yes', label: 'Yes' }], ...facts });
  for (const named of [{}, { instance_id: 'c2' }]) {
    const as = { channel: 'compat', sender: { raw_id: 'owner' }, ...named };
    const payload = { as, conversation_key: 'compat:c1:key', option: 'yes' };
    expect((await core.app.inject({ method: 'POST', url: '/v2/asks/ask_1/answer', payload })).statusCode).toBe(403);
  }
});
