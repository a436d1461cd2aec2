import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { keyInSettings, settingsFiles } from './key-in-settings.ts';

const folder = temporaryFolder();
const dir = folder.path;
afterAll(() => folder.remove());
const file = path.join(dir, 'settings.json');
const bills = /settings\.json sets (\w+), so Claude would bill every turn\./;
const leads = /settings\.json sets (\w+), which would send Claude's login to another server\./;

const look = async (isProject: boolean) => (await keyInSettings([{ file, isProject }]))?.message;

test.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_USE_BEDROCK'])(
  'reports %s in any settings file',
  async (name) => {
    writeFileSync(file, JSON.stringify({ env: { [name]: 'x' } }));
    for (const isProject of [true, false]) expect(bills.exec((await look(isProject)) ?? '')?.[1]).toBe(name);
  },
);

test.each(['ANTHROPIC_BASE_URL', 'HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'])(
  'reports %s in project settings, but not in those of the owner',
  async (name) => {
    writeFileSync(file, JSON.stringify({ env: { [name]: 'http://elsewhere' } }));
    expect(leads.exec((await look(true)) ?? '')?.[1]).toBe(name);
    expect(await look(false)).toBeUndefined();
  },
);

test.each(['{ "env": { // a comment\n "ANTHROPIC_API_KEY": "x" } }', '{"apiKeyHelper":"x",}', '{', `"${'x'.repeat(2 ** 20)}"`])(
  'reports settings that cannot be read',
  async (text) => {
    writeFileSync(file, text);
    expect(await look(false)).toMatch(/settings\.json (cannot be read, so it may set an API key|cannot be checked)/);
  },
);

test.each([
  '',
  ' \n',
  '{}',
  '\uFEFF{}',
  '[]',
  'null',
  '{"env":null}',
  '{"env":{"ANTHROPIC_API_KEY":""}}',
  '{"env":["ANTHROPIC_API_KEY"]}',
])('accepts settings with %j', async (text) => {
  writeFileSync(file, text);
  expect(await look(true)).toBeUndefined();
});

test('reports settings that are not a regular file, without blocking', async () => {
  rmSync(file, { force: true });
  execFileSync('mkfifo', [file]);
  expect(await look(true)).toContain('it is not a regular file');
  rmSync(file);
  mkdirSync(file);
  expect(await look(true)).toContain('it is not a regular file');
  rmSync(file, { recursive: true });
  expect(await look(true)).toBeUndefined();
});

test.each(['etc/managed-settings.json', 'etc/managed-settings.d/10-keys.json', 'home/.claude/remote-settings.json'])(
  'reports a key in %s',
  async (place) => {
    const at = path.join(dir, place);
    mkdirSync(path.dirname(at), { recursive: true });
    writeFileSync(at, JSON.stringify({ env: { ANTHROPIC_API_KEY: 'x' } }));
    const files = await settingsFiles([], { HOME: path.join(dir, 'home') }, dir, path.join(dir, 'etc'));
    expect((await keyInSettings(files))?.message).toContain(`${at} sets ANTHROPIC_API_KEY`);
    rmSync(at);
    expect(await keyInSettings(files)).toBeNull();
  },
);
