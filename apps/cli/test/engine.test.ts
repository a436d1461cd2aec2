import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineView } from '@svc/contract/engine.ts';
import {
  codexPackage,
  fakeCodex,
  type PackageRegistry,
  startPackageRegistry,
} from '@svc/testing/package-registry/start-package-registry.ts';
import { type CliCore, startCliCore } from '@svc/testing/run-svc.ts';

let core: CliCore;
let registry: PackageRegistry;
const key = 'sk-canary-0123456789';

beforeAll(async () => {
  registry = await startPackageRegistry();
  core = await startCliCore({ env: { SVC_ENGINE_REGISTRY: registry.url, SVC_DEFAULT_ENGINE: '' } });
});
afterAll(async () => {
  await core.close();
  await registry.close();
});

/** The command as a person runs it, with what is piped into it. */
const svc = (args: string[], input = '') => core.svc(['engine', ...args], { input });

const view = async (id: string) =>
  (JSON.parse((await svc(['--json'])).out) as { engines: EngineView[] }).engines.find((engine) => engine.id === id);

test('engines are listed, for a person and as JSON', async () => {
  const { code, out } = await svc([]);
  expect(code).toBe(0);
  for (const id of ['claude', 'codex', 'gemini', 'offline']) expect(out).toMatch(new RegExp(`^. ${id} `, 'm'));
  expect(out).toMatch(/^\* offline +ready, default/m);
  expect(await view('offline')).toMatchObject({ default: true, ready: true });
});

test(
  'an engine is installed with its progress on stderr, logged in by its own program, and made the default',
  { timeout: 90_000 },
  async () => {
    const pinned = (await view('codex'))?.pinned_version ?? '';
    registry.publish(codexPackage, pinned, fakeCodex(pinned));
    const installed = await svc(['install', 'codex']);
    expect([installed.code, installed.err, installed.out]).toEqual([
      0,
      expect.stringContaining(`fetching ${codexPackage}@${pinned}`),
      expect.stringContaining(`version ${pinned}`),
    ]);
    const login = await svc(['login', 'codex']);
    expect([login.code, login.out]).toEqual([0, expect.stringContaining('Logged in using ChatGPT')]);
    const chosen = await svc(['default', 'codex']);
    expect([chosen.code, chosen.out]).toEqual([0, expect.stringContaining('* codex')]);
    expect(await view('codex')).toMatchObject({ default: true });
    expect((await svc(['default', 'offline'])).code).toBe(0);
  },
);

test('svc engine test prints the time of the answer, or how to fix a failure', async () => {
  const { code, out } = await svc(['test', 'offline']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^offline answered in \d+\.\d s: /)]);
  const failed = await svc(['test', 'gemini']);
  expect([failed.code, failed.err]).toEqual([
    1,
    expect.stringMatching(/gemini gave no answer \(engine_not_installed\)[^]*Run: \.\/svc engine install gemini/),
  ]);
});

test('a key is read from a pipe, never from an argument, and can be removed', async () => {
  const refused = await svc(['key', 'gemini', key]);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('a key is not given as an argument')]);
  const kept = await svc(['key', 'gemini'], `${key}\n`);
  expect([kept.code, kept.out, kept.err]).toEqual([
    0,
    expect.stringContaining('by API key'),
    expect.stringContaining('secrets file'),
  ]);
  expect(JSON.parse(readFileSync(path.join(core.folder, 'secrets.json'), 'utf8'))).toEqual({ SVC_GEMINI_API_KEY: key });
  expect((await svc(['key', 'gemini', '--remove'])).code).toBe(0);
  expect(await view('gemini')).toMatchObject({ key_present: false, connection: 'subscription' });
  const claude = await svc(['key', 'claude'], key);
  expect([claude.code, claude.err]).toEqual([1, expect.stringContaining('svc engine login claude')]);
});

test('model, automatic updates and the address of codex are set, and cleared with "none"', async () => {
  expect((await svc(['model', 'codex', 'my-model'])).out).toContain('model my-model');
  expect((await svc(['auto-update', 'codex', 'on'])).out).toContain('updates automatically');
  expect((await svc(['base-url', 'codex', 'http://127.0.0.1:9/v1'])).out).toContain('http://127.0.0.1:9/v1');
  expect(await view('codex')).toMatchObject({ model: 'my-model', auto_update: true, base_url: 'http://127.0.0.1:9/v1' });
  await svc(['model', 'codex', 'none']);
  await svc(['base-url', 'codex', 'none']);
  expect(await view('codex')).toMatchObject({ model: null, base_url: null });
  expect((await svc(['model', 'offline'])).out).toBe('offline uses its own default. It names no models to choose from.\n');
  expect((await svc(['model', 'codex'])).out).toMatch(/uses its own default[^]*gpt-/);
});

test.each([
  [['install', 'codexx'], 'There is no engine "codexx".\nRun: ./svc engine\n'],
  [['default', 'claude'], 'Run: ./svc engine install claude\n'],
  [['rollback', 'codex'], 'There is no earlier version of codex to go back to'],
  [['key', 'gemini'], 'Run: ./svc engine key gemini\n'],
  [['base-url', 'codex', 'file:///x'], 'begin with http:// or https://'],
  [['login', 'gemini'], 'not installed'],
])('%j fails with the reason', async (args, why) => {
  const { code, err } = await svc(args);
  expect([code, err]).toEqual([1, expect.stringContaining(why)]);
});

test.each([
  [['auto-update', 'codex', 'maybe'], 'Allowed choices are on, off'],
  [['model'], "missing required argument 'id'"],
  [['list', '--jsn'], "unknown option '--jsn'"],
  [['default', 'offline', 'now'], 'too many arguments'],
])('%j is a usage error with the reason', async (args, why) => {
  const { code, err } = await svc(args);
  expect([code, err]).toEqual([2, expect.stringContaining(why)]);
});
