import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import fc from 'fast-check';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { vaultAgentNamePattern } from '@svc/contract/vault.ts';
import { listen } from '@svc/testing/listen.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { compiledCode, runSvc } from '@svc/testing/run-svc.ts';
import { repositoryRoot } from '../src/repository-root.ts';
import { hostAddresses, type HostName } from '../src/service-urls.ts';
import { hostEnv } from '../src/up/host-env.ts';
import { agentNameOf, writeEnv } from '../src/vault/init-vault.ts';

const passphrase = 'a long enough passphrase';
let folder: TemporaryFolder;
let dir: string;
let env: Record<string, string>;
let vault: ChildProcess | null = null;

beforeEach(async () => {
  folder = temporaryFolder();
  dir = folder.path;
  const [port = 0] = await freePorts(1);
  env = {
    ...compiledCode,
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    SVC_DATA_DIR: path.join(dir, 'data'),
    SVC_VAULT_PORT: String(port),
  };
});
afterEach(async () => {
  if (vault !== null && vault.exitCode === null) {
    vault.kill('SIGKILL');
    await once(vault, 'exit');
  }
  vault = null;
  folder.remove();
});

const svc = (args: string[], input = '', more: Record<string, string> = {}) =>
  runSvc(['vault', ...args], { env: { ...env, ...more }, input });

const someKey = `vadmin_${'x'.repeat(43)}`;
/** What commands see of a vault that was set up and does not run: its file. */
function setUp(dataDir = env['SVC_DATA_DIR'] ?? ''): void {
  mkdirSync(path.join(dataDir, 'vault'), { recursive: true });
  writeFileSync(path.join(dataDir, 'vault/vault.db'), '');
}

async function run(): Promise<void> {
  vault = spawn(process.execPath, [path.join(repositoryRoot, 'apps/vault/src/main.ts')], {
    env: { ...env, SVC_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await once(vault, 'message');
}

test('sets up, unseals, fills and seals a vault', { timeout: 180_000 }, async () => {
  expect((await svc(['status'])).err).toContain('no vault is set up');
  const made = await svc(['init'], `${passphrase}\n`);
  expect(made).toMatchObject({ code: 0, err: '' });
  const lines = [...made.out.matchAll(/^(SVC_VAULT_\w+)=(.+)$/gm)].map(([, name = '', value = '']) => [name, value]);
  expect(lines.map(([name]) => name)).toEqual(['SVC_VAULT_URL', 'SVC_VAULT_ADMIN_KEY', 'SVC_VAULT_AGENT_KEY']);
  expect(made.out).not.toContain(passphrase);
  expect((await svc(['init'], `${passphrase}\n`)).err).toContain('already set up');

  env = { ...env, ...(Object.fromEntries(lines) as Record<string, string>) };
  await run();
  expect((await svc(['status'])).out).toContain('is sealed');
  expect((await svc(['put', 'API_KEY'], 'a value\n')).err).toContain('sealed');
  expect((await svc(['unseal'], 'not the passphrase\n')).err).toMatch(/passphrase is wrong[^]*\nRun: \.\/svc vault unseal\n/);
  // After a wrong one, the vault takes none for a second.
  await expect.poll(async () => (await svc(['unseal'], `${passphrase}\n`)).code, { interval: 1000 }).toBe(0);

  expect((await svc(['put', 'API_KEY', '--min-trust', 'trusted'], 'a value\n')).out).toBe(
    'Stored API_KEY, version 1, for trusted and above.\n',
  );
  const listed = await svc(['list']);
  expect(listed.out).toMatch(/^ {2}API_KEY +trusted +version 1/);
  expect(listed.out).not.toContain('a value');
  expect((await svc(['agent', 'add', 'reader', '--tier', 'known'])).out).toMatch(/\nvagent_[\w-]{43}\n$/);
  expect(await svc(['agent', 'add', 'reader'])).toMatchObject({ code: 2, err: expect.stringContaining('--tier') as string });
  expect((await svc(['agent', 'remove', 'reader'])).code).toBe(0);
  expect((await svc(['agent', 'remove', 'nobody'])).err).toContain('\nRun: ./svc vault agent\n');
  expect((await svc(['remove', 'NOTHING'])).err).toContain('\nRun: ./svc vault list\n');
  expect((await svc(['agent'])).out).toMatch(/assistant +owner +since.*\n +reader +known +revoked/);
  expect((await svc(['rotate'])).out).toContain('Keys wrapped again: 1');
  expect((await svc(['passphrase'], `${passphrase}\nthe passphrase after that\n`)).code).toBe(0);
  expect((await svc(['remove', 'API_KEY'])).code).toBe(0);
  expect((await svc(['list'])).out).toContain('holds no secrets');
  expect((await svc(['log'])).out).toMatch(/admin +delete +API_KEY +ok\n$/);
  expect((await svc(['seal'])).code).toBe(0);
  expect(JSON.parse((await svc(['status', '--json'])).out)).toEqual({ initialized: true, sealed: true });
  delete env['SVC_VAULT_ADMIN_KEY'];
  expect((await svc(['seal'])).err).toContain('Set SVC_VAULT_ADMIN_KEY');
});

test('shows the admin key, which is shown only once, even if the key of the assistant then cannot be made', async () => {
  const asked: string[] = [];
  const answers: Record<string, [number, object]> = {
    '/v1/status': [200, { initialized: false, sealed: true }],
    '/v1/init': [200, { ok: true, sealed: false, admin_key: 'vadmin_once' }],
    '/v1/agents': [409, { ok: false, error: 'conflict', message: 'There is one of that name.', request_id: 'r' }],
  };
  const server = createServer((request, response) => {
    const [status, body] = answers[request.url ?? ''] ?? [404, {}];
    void text(request).then((sent) => {
      if (request.url === '/v1/agents') asked.push((JSON.parse(sent) as { name: string }).name);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  const more = { SVC_VAULT_URL: url, SVC_VAULT_PORT: new URL(url).port, SVC_ASSISTANT_NAME: 'Jarvis' };
  const { code, out, err } = await svc(['init'], `${passphrase}\n`, more);
  expect(code).toBe(1);
  expect(out).toContain('SVC_VAULT_ADMIN_KEY=vadmin_once\n');
  expect(asked).toEqual(['jarvis']);
  expect(err).toContain('There is one of that name.');
  expect(err).toContain('Run: ./svc vault agent add jarvis --tier owner');
});

test('every name of the assistant gives a valid name of an agent', () => {
  expect(['Jarvis', 'admin', 'ADMIN', '-', 'Big_One-2'].map(agentNameOf)).toEqual([
    'jarvis',
    'assistant',
    'assistant',
    'assistant',
    'big_one-2',
  ]);
  const isTaken = new RegExp(vaultAgentNamePattern);
  fc.assert(fc.property(fc.string(), (name) => isTaken.test(agentNameOf(name))));
});

test('says what to do when no vault is set up, and when one is set up but does not run yet', async () => {
  for (const words of [['status'], ['list'], ['unseal']]) {
    const { err } = await svc(words, 'x\n');
    expect(err).toContain('no vault is set up');
    expect(err).toContain('Run: ./svc vault init --write-env');
  }
  setUp();
  env = { ...env, SVC_VAULT_URL: `http://127.0.0.1:${env['SVC_VAULT_PORT']}`, SVC_VAULT_ADMIN_KEY: someKey };
  for (const words of [['status'], ['list']]) {
    const { code, err } = await svc(words);
    expect(code).toBe(1);
    expect(err).toContain('runs from the next start on: stop ./svc up');
    expect(err).toContain('Run: ./svc up\n');
  }
  const elsewhere = await svc(['status'], '', { SVC_VAULT_URL: 'http://127.0.0.1:1' });
  expect(elsewhere.err).toContain('the vault does not answer');
  expect(elsewhere.err).toContain('Run: ./svc status');
});

test('refuses an empty passphrase and an empty value, and names the command that asks for it', async () => {
  const empty = await svc(['init']);
  expect(empty).toMatchObject({ code: 1, out: '' });
  expect(empty.err).toContain('no passphrase was given');
  expect(empty.err).toContain('Run: ./svc vault init');
  const put = await svc(['put', 'API_KEY'], '\n', { SVC_VAULT_ADMIN_KEY: someKey });
  expect(put).toMatchObject({ code: 1, out: '' });
  expect(put.err).toContain('no value was given');
  expect(put.err).toContain('Run: ./svc vault put API_KEY');
});

test('svc up runs a vault that is set up, or whose address is ours', () => {
  const names = (more: Record<string, string>) =>
    hostAddresses(loadSettings(repositoryRoot, { SVC_DATA_DIR: dir, SVC_VAULT_PORT: '3999', ...more })).map(({ name }) => name);
  const three = ['core', 'manager', 'collector', 'dashboard'];
  expect(names({})).toEqual(three);
  expect(names({ SVC_VAULT_URL: 'http://127.0.0.1:3999' })).toEqual([...three, 'vault']);
  expect(names({ SVC_VAULT_URL: 'http://localhost:3999/' })).toEqual([...three, 'vault']);
  setUp(dir);
  expect(names({})).toEqual([...three, 'vault']);
  expect(names({ SVC_VAULT_URL: 'http://127.0.0.1:4000' })).toEqual(three);
});

test.each(['https://127.0.0.1:3022', 'http://vault.example:3022', 'http://10.0.0.1:3022', 'http://127.0.0.1:3022/x', 'nonsense'])(
  'refuses %s as the address of a vault, which must be on this machine',
  (url) => expect(() => loadSettings(repositoryRoot, { SVC_VAULT_URL: url })).toThrow('SVC_VAULT_URL'),
);

test('passes the keys of the vault only to the processes that use them', () => {
  const all = { SVC_VAULT_AGENT_KEY: 'a', SVC_VAULT_ADMIN_KEY: 'b', SVC_VAULT_URL: 'u' };
  const given = (name: HostName) =>
    Object.fromEntries(Object.entries(hostEnv(name, all)).filter(([key]) => key.startsWith('SVC_')));
  expect(given('core')).toEqual(all);
  expect(given('manager')).toEqual(all);
  expect(given('collector')).toEqual({ SVC_VAULT_URL: 'u' });
  expect(given('vault')).toEqual({ SVC_VAULT_ADMIN_KEY: 'b', SVC_VAULT_URL: 'u' });
});

test('adds and replaces variables in .env, and makes the file private to its owner', () => {
  const file = path.join(dir, '.env');
  writeFileSync(file, '# mine\nSVC_VAULT_URL=old\nOTHER=1\n\n', { mode: 0o644 });
  expect(writeEnv(dir, { SVC_VAULT_URL: 'new', SVC_VAULT_AGENT_KEY: 'key' })).toBe(file);
  expect(readFileSync(file, 'utf8')).toBe('# mine\nOTHER=1\nSVC_VAULT_URL=new\nSVC_VAULT_AGENT_KEY=key\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('writes through a symbolic link to the .env file, and replaces lines with export', () => {
  const kept = path.join(dir, 'kept elsewhere.env');
  writeFileSync(kept, 'export SVC_VAULT_URL=old\nOTHER=1\n');
  symlinkSync(kept, path.join(dir, '.env'));
  writeEnv(dir, { SVC_VAULT_URL: 'new' });
  expect(readFileSync(kept, 'utf8')).toBe('OTHER=1\nSVC_VAULT_URL=new\n');
  expect(readlinkSync(path.join(dir, '.env'))).toBe(kept);
});
