import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { SettingsError, settingsOf } from './setting.ts';
import { loadSettings, settingGroups, settingList, unknownSettings } from './settings.ts';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    loadSettings('/nowhere', env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

test('uses the defaults without any variable', () => {
  expect(loadSettings('/nowhere', {})).toMatchObject({
    corePort: 3023,
    managerPort: 3024,
    collectorPort: 3017,
    bindHost: '127.0.0.1',
  });
});

test('variable names and code names of settings are unique', () => {
  const groups = Object.values(settingGroups);
  expect(groups.flatMap((group) => settingsOf(group).map(({ name }) => name))).toEqual([...settingList.keys()]);
  const names = groups.flatMap((group) => Object.keys(group));
  expect(names).toEqual([...new Set(names)]);
});

test('reports every invalid setting at once, by name', () => {
  const problems = problemsOf({
    SVC_CORE_PORT: 'x',
    SVC_MANAGER_PORT: '70000',
    SVC_LOG_LEVEL: 'loud',
    SVC_ASSISTANT_NAME: 'Big Name',
    SVC_CODEX_BASE_URL: 'ftp://x',
  });
  expect(problems).toHaveLength(5);
  for (const name of ['SVC_CORE_PORT', 'SVC_MANAGER_PORT', 'SVC_LOG_LEVEL', 'SVC_ASSISTANT_NAME', 'SVC_CODEX_BASE_URL']) {
    expect(problems.join('\n')).toContain(name);
  }
});

test.each(['', '   '])('rejects a blank token: "%s"', (value) => {
  expect(problemsOf({ SVC_MANAGER_TOKEN: value })[0]).toContain('SVC_MANAGER_TOKEN');
});

test.each([
  'correct horse battery',
  'a-token ',
  ' a-token',
  'one\ntwo',
  'a\tb',
  'пароль-0123456789',
  'a—b',
  'a\u00a0b',
  'a\ud800',
])('rejects a token that cannot be sent in a header, without showing it: %j', (value) => {
  const problems = problemsOf({ SVC_MANAGER_TOKEN: value, SVC_INSIGHTS_TOKEN: value });
  expect(problems.map((text) => text.split(' ')[0])).toEqual(['SVC_MANAGER_TOKEN', 'SVC_INSIGHTS_TOKEN']);
  expect(problems.join()).not.toContain(value.trim());
});

test('accepts any header characters in a token, and spaces in a vault key', () => {
  const settings = loadSettings('/nowhere', {
    SVC_MANAGER_TOKEN: 'a+b/c=~"é"',
    SVC_VAULT_ADMIN_KEY: 'correct horse battery staple',
  });
  expect(settings.managerToken?.reveal()).toBe('a+b/c=~"é"');
  expect(settings.vaultAdminKey?.reveal()).toBe('correct horse battery staple');
  for (const value of ['пароль-0123456789', 'correct horse battery '])
    expect(problemsOf({ SVC_VAULT_ADMIN_KEY: value })[0]).toContain('SVC_VAULT_ADMIN_KEY');
});

test.each(['0.0.0.0', '::', '*', '127.evil.example', 'localhost', '10.0.0.5', '1.2.3', '::ffff:0.0.0.0', '127.1'])(
  'rejects the bind address %s',
  (host) => {
    expect(problemsOf({ SVC_BIND_HOST: host })[0]).toContain('SVC_BIND_HOST');
  },
);

test('rejects two processes with the same port', () => {
  expect(problemsOf({ SVC_CORE_PORT: '4000', SVC_MANAGER_PORT: '4000' })[0]).toContain('must differ');
});

test('rejects an API port that is the port of a process', () => {
  expect(problemsOf({ SVC_COMPAT_PORT: '3023' })[0]).toContain('SVC_COMPAT_PORT');
  expect(problemsOf({ SVC_COMPAT_PORT: '0' })).toEqual([]);
});

test('resolves relative paths from the root and "~" from the home folder', () => {
  const { dataDir, secretsFile, codexPath, claudePath } = loadSettings('/nowhere', {
    SVC_DATA_DIR: 'data',
    SVC_CODEX_PATH: 'tools/codex',
    SVC_CLAUDE_PATH: '~/claude',
  });
  expect([dataDir, secretsFile, codexPath]).toEqual(['/nowhere/data', '/nowhere/data/secrets.json', '/nowhere/tools/codex']);
  expect(claudePath).not.toContain('~');
});

test('rejects a path that begins with a variable', () => {
  for (const file of ['$HOME/svc', '${HOME}/svc'])
    expect(problemsOf({ SVC_DATA_DIR: file })).toEqual([expect.stringContaining('variables are not expanded here')]);
  expect(problemsOf({ SVC_DATA_DIR: '/data/$HOME' })).toEqual([]);
});

test('asks for SVC_DATA_DIR when the user has no home folder', () => {
  vi.stubEnv('HOME', '');
  try {
    expect(problemsOf({})[0]).toContain('SVC_DATA_DIR');
    expect(problemsOf({ SVC_DATA_DIR: '/data' })).toEqual([]);
    expect(problemsOf({ SVC_DATA_DIR: '' })[0]).toContain('is empty');
  } finally {
    vi.unstubAllEnvs();
  }
});

test('a token is not printed, logged or serialized', () => {
  const { managerToken } = loadSettings('/nowhere', { SVC_MANAGER_TOKEN: 'very-secret-value' });
  expect(`${String(managerToken)} ${JSON.stringify({ managerToken })} ${inspect({ managerToken })}`).not.toContain('very-secret');
  expect(managerToken?.equals('very-secret-value')).toBe(true);
  expect(managerToken?.equals('très-other')).toBe(false);
});

test('unknownSettings() reports variables that no setting has', () => {
  expect(unknownSettings({ SVC_CORE_PROT: '1', SVC_CORE_PORT: '1', PATH: '' })).toEqual(['SVC_CORE_PROT']);
});

test.each(['0', '-1', 'free', '$20', '1e3', 'Infinity', 'NaN', '0x10', '1,5'])('rejects the spend limit "%s"', (value) => {
  for (const name of [
    'SVC_SPEND_SOFT_USD',
    'SVC_SPEND_HARD_USD',
    'SVC_SPEND_PRINCIPAL_SOFT_USD',
    'SVC_SPEND_PRINCIPAL_HARD_USD',
  ]) {
    expect(problemsOf({ [name]: value })[0]).toContain(name);
  }
});

test('rejects a soft spend limit above the hard one, along with other problems', () => {
  const problems = problemsOf({
    SVC_SPEND_SOFT_USD: '20',
    SVC_SPEND_HARD_USD: '10',
    SVC_SPEND_PRINCIPAL_SOFT_USD: '2',
    SVC_SPEND_PRINCIPAL_HARD_USD: '1.99',
    SVC_SPEND_PERIOD: 'week',
  });
  expect(problems).toHaveLength(3);
  expect(problems.join('\n')).toMatch(/SVC_SPEND_PERIOD[^]*SVC_SPEND_SOFT_USD[^]*SVC_SPEND_PRINCIPAL_SOFT_USD/);
});

test('exporters use their own URL, else one below the common URL, and can be disabled', () => {
  const otel = (env: Record<string, string>) => loadSettings('/nowhere', env).otel;
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' };
  expect(otel({})).toEqual({ tracesUrl: null, metricsUrl: null, metricsEveryMs: 60_000 });
  expect(otel(base)).toMatchObject({
    tracesUrl: 'http://127.0.0.1:4318/v1/traces',
    metricsUrl: 'http://127.0.0.1:4318/v1/metrics',
  });
  expect(otel({ ...base, OTEL_METRICS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' })).toMatchObject({
    tracesUrl: 'http://t/x',
    metricsUrl: null,
  });
  expect(otel({ ...base, OTEL_SDK_DISABLED: 'true' })).toMatchObject({ tracesUrl: null, metricsUrl: null });
});

test('there is no spend limit by default, and the period is a month', () => {
  expect(loadSettings('/nowhere', { SVC_SPEND_HARD_USD: '', SVC_SPEND_PRINCIPAL_SOFT_USD: ' 0.5 ' })).toMatchObject({
    spendSoftUsd: null,
    spendHardUsd: null,
    spendPrincipalSoftUsd: 0.5,
    spendPeriod: 'month',
  });
});

test('reads checkout secrets with their servers', () => {
  expect(loadSettings('/nowhere', {}).checkoutSecrets).toEqual([]);
  const SVC_CHECKOUT_SECRETS = ' GITHUB_TOKEN@GitHub.com, lan/git-token@git.lan:3000 ,V6@::1';
  expect(loadSettings('/nowhere', { SVC_CHECKOUT_SECRETS }).checkoutSecrets).toEqual([
    { name: 'GITHUB_TOKEN', host: 'github.com' },
    { name: 'lan/git-token', host: 'git.lan:3000' },
    { name: 'V6', host: '::1' },
  ]);
});

test.each([
  'GITHUB_TOKEN',
  '@github.com',
  'GITHUB_TOKEN@',
  'A B@github.com',
  'A@github.com/owner',
  'A@https://github.com',
  'A@*',
  'A@B@github.com',
  'SVC_CORE_TOKEN@github.com',
])('rejects "%s" as a checkout secret', (SVC_CHECKOUT_SECRETS) => {
  expect(problemsOf({ SVC_CHECKOUT_SECRETS })).toHaveLength(1);
});
