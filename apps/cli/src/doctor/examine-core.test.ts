import { createServer } from 'node:net';
import type { EngineView } from '@svc/contract/engine.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { expect, test } from 'vitest';
import { quoted } from '../terminal.ts';
import { examineEndpoint, judgeOwners, toFinding } from './examine-core.ts';

const engine = {
  id: 'codex',
  default: true,
  installed: true,
  version: '1',
  ready: true,
  reason: 'Ready.',
  notice: null,
  install: null,
} as unknown as EngineView;

test.each([
  ['answers', {}, 'ok', null],
  ['is not installed', { installed: false, ready: false }, 'problem', './svc engine install codex'],
  ['is being installed', { installed: false, ready: false, install: { state: 'running', step: 'Downloading.' } }, 'note', null],
  ['has no login', { ready: false, connection: 'subscription' }, 'problem', './svc engine login codex'],
  ['has no key', { ready: false, connection: 'api_key', key_present: false }, 'problem', './svc engine key codex'],
  ['is passed over', { notice: 'codex is passed over for 3 min: out of quota' }, 'problem', './svc engine test codex'],
])('examines an engine in use that %s', (_, is, state, fix) => {
  expect(toFinding({ ...engine, ...is } as EngineView)).toMatchObject({ state, fix });
});

test('a fault of an engine that is not in use is only a note', () => {
  expect(toFinding({ ...engine, default: false, ready: false })).toMatchObject({ state: 'note' });
});

test('a local model server that does not answer is a problem of the engine in use', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/v1`;
  const used = { id: 'codex', ready: true, base_url: url };
  expect(await examineEndpoint(used)).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
  expect(await examineEndpoint(used)).toMatchObject([{ state: 'problem', fix: `./svc engine base-url codex ${quoted(url)}` }]);
  expect(await examineEndpoint({ ...used, base_url: 'https://models.example.com' })).toEqual([]);
  expect(await examineEndpoint({ ...used, base_url: 'nonsense' })).toEqual([]);
  expect(await examineEndpoint(undefined)).toEqual([]);
});

const roles = [{ id: 'r1', name: 'owner', tier: 'SACRED' }] as Role[];
const person = (key: string, over: object = {}) =>
  ({ key, status: 'active', identifiers: [{}], grants: [{ role_id: 'r1' }], ...over }) as unknown as Principal;
const disabled = person('anna', { status: 'disabled' });

test.each([
  ['an owner', [person('anna')], ['ok null']],
  ['nobody', [], ['problem ./svc person add owner --role owner']],
  ['only people who are no owners', [person('tom', { grants: [] })], ['problem ./svc person add owner --role owner']],
  ['a disabled owner', [disabled], ['problem ./svc person enable anna']],
  ['a disabled owner beside another', [disabled, person('tom')], ['note ./svc person enable anna', 'ok null']],
  ['an owner whom no channel knows', [person('anna', { identifiers: [] })], ['problem ./svc person link anna shell "$(id -un)"']],
])('examines the owners: %s', (_, people, expected) => {
  expect(judgeOwners(people, roles).map(({ state, fix }) => `${state} ${fix}`)).toEqual(expected);
});
