import { execFile } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import { envelope, openTestCore, type TestCore } from '../../apps/core/test/open-test-core.ts';

const mainFile = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
let core: TestCore;
let port: number;
beforeAll(async () => {
  core = await openTestCore();
  port = Number(new URL(await core.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => core.close());

type Ended = { code: number; out: string; err: string };

/** Runs `svc` as a shell does, against the core of this test. */
const svc = (args: string[], corePort = port): Promise<Ended> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'],
      HOME: core.folder,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      SVC_DATA_DIR: core.folder,
      SVC_CORE_PORT: String(corePort),
    };
    const child = execFile(process.execPath, [mainFile, ...args], { env, timeout: 60_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });

const from = (raw_id: string) =>
  envelope('hello', {
    channel: 'messenger',
    conversation_key: `messenger:m1:user:${raw_id}`,
    sender: { raw_id, raw_username: `Anna ${raw_id}` },
    intake: { pairing: true },
  });
const codeFor = (raw_id: string): string =>
  /[A-Z2-9]{4}-[A-Z2-9]{4}/.exec(core.context.pending.note(from(raw_id), { denial: 'unknown_sender' }) ?? '')?.[0] ?? '';
const outcomeOf = async (raw_id: string) => (await core.handle(from(raw_id))).json().outcome;

test('svc pair says when nobody is waiting', async () => {
  expect(await svc(['pair'])).toMatchObject({ code: 0, out: expect.stringContaining('Nobody is waiting') as string });
});

test('svc pair lists waiting senders; svc pair CODE lets one in, and the undo command it prints reverts that', async () => {
  const code = codeFor('42');
  const list = await svc(['pair']);
  expect(list.out).toContain(`${code}   Anna 42 (messenger 42)   1 message`);
  expect(list.out).toContain('svc pair CODE --as owner');
  const done = await svc(['pair', code.toLowerCase().replace('-', ' ')]);
  expect(done.code).toBe(0);
  expect(done.out).toContain('Anna 42 (messenger 42) is now "anna-42", with the role known.');
  expect(await outcomeOf('42')).toBe('replied');
  const undo = /\.\/svc (person unlink \S+)/.exec(done.out)?.[1] ?? '';
  expect((await svc(undo.split(' '))).code).toBe(0);
  expect(await outcomeOf('42')).toBe('denied');
});

test('svc pair CODE --as owner links the sender to the owner', async () => {
  const { code, out } = await svc(['pair', codeFor('43'), '--as', 'owner']);
  expect(code).toBe(0);
  expect(out).toContain('Anna 43');
  expect(await core.context.trust.resolve(from('43'))).toMatchObject({ principal_key: 'owner', trust_tier: 'SACRED' });
});

test('svc pair CODE --role --name creates a person with that role and name', async () => {
  await svc(['pair', codeFor('44'), '--role', 'guest', '--name', 'Tante Anna']);
  expect(await core.context.trust.resolve(from('44'))).toMatchObject({ principal_key: 'tante-anna', trust_tier: 'GUEST' });
});

test('svc pair --json prints the answer of the core, also a refusal', async () => {
  const code = codeFor('45');
  const { pending } = JSON.parse((await svc(['pair', '--json'])).out) as { pending: PendingIdentity[] };
  expect(pending.find(({ value }) => value === '45')).toMatchObject({ code });
  expect(JSON.parse((await svc(['pair', code, '--json'])).out)).toMatchObject({ ok: true, role: 'known' });
  const again = await svc(['pair', code, '--json']);
  expect(again.code).toBe(1);
  expect(JSON.parse(again.out)).toMatchObject({ ok: false, error: 'not_found' });
});

test.each([
  ['an unknown code', ['ZZZZ-ZZZZ'], 'No waiting sender has the code'],
  ['a code that is missing', ['--as', 'owner'], 'a code is missing'],
])('%s exits with code 1 and an explanation', async (_what, args, text) => {
  const { code, err } = await svc(['pair', ...args]);
  expect(code).toBe(1);
  expect(err).toContain(text);
});

test('svc pair says when the service is not running', async () => {
  const { code, err } = await svc(['pair'], 1);
  expect(code).toBe(1);
  expect(err).toContain('the service is not running');
  expect(err).toContain('./svc up');
});
