import os from 'node:os';
import { describe, expect, test } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { claudeEnv, claudeOptions, settingSources, toMcpServers } from './launch.ts';

const env = {
  PATH: '/bin',
  HOME: '/home/x',
  CLAUDE_CODE_OAUTH_TOKEN: 'login',
  ANTHROPIC_API_KEY: 'key',
  ANTHROPIC_AUTH_TOKEN: 'token',
  ANTHROPIC_BASE_URL: 'http://elsewhere',
  CLAUDE_CODE_USE_BEDROCK: '1',
  OPENAI_API_KEY: 'key',
  SVC_MANAGER_TOKEN: 'hush',
};

describe('environment of claude', () => {
  test('with a login, contains the login and no API key', () => {
    const names = Object.keys(claudeEnv({ env, baseUrl: null, stateDir: os.tmpdir() }));
    expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'CLAUDE_CODE_OAUTH_TOKEN']));
    expect(names.filter((name) => /ANTHROPIC|BEDROCK|OPENAI|SVC_/.test(name))).toEqual([]);
  });

  test('with a custom endpoint, contains it, a bearer token and a separate folder, but not the login', () => {
    const made = claudeEnv({ env, baseUrl: 'http://127.0.0.1:1', stateDir: os.tmpdir() });
    expect(made).toMatchObject({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_AUTH_TOKEN: 'token' });
    expect(made.CLAUDE_CONFIG_DIR).toContain(os.tmpdir());
    expect(made).not.toHaveProperty('CLAUDE_CODE_OAUTH_TOKEN');
    expect(made).not.toHaveProperty('ANTHROPIC_API_KEY');
  });
});

test('toMcpServers() uses the call timeout of a server, if it has one', () => {
  const server = { type: 'http', url: 'http://x', headers: {}, safe: true } as const;
  const servers = toMcpServers([
    { ...server, name: 'usual' },
    { ...server, name: 'patient', callTimeoutMs: 665_000 },
  ]);
  const { safe: _safe, ...known } = server;
  expect(servers).toEqual({ usual: known, patient: { ...known, timeout: 665_000 } });
});

test.each([
  ['none', { tools: [], settingSources: [] }],
  ['read', { tools: ['Read', 'Glob', 'Grep'], settingSources: [] }],
  ['full', { settingSources: ['user'] }],
] as const)('policy %s starts the program with its tools and settings', (toolPolicy, expected) => {
  const options = claudeOptions(engineRequest({ prompt: 'x', cwd: '/w', toolPolicy }), { resume: null, env: {}, notes: '' });
  expect(options).toMatchObject({ ...expected, verbatimPrompts: true, strictMcpConfig: true, permissionMode: 'default' });
});

test.each([
  ['SACRED', true, ['user', 'project', 'local']],
  ['SACRED', false, ['user']],
  ['TRUSTED', true, ['project', 'local']],
  ['TRUSTED', false, []],
] as const)('with full rights, tier %s in a trusted folder (%s) uses the settings of %j', (tier, trustedFolder, sources) => {
  const base = engineRequest({ prompt: 'x', cwd: '/w', trustedFolder });
  expect(settingSources({ ...base, facts: { ...base.facts, tier } })).toEqual(sources);
});
