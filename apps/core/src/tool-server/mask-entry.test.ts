import { expect, test } from 'vitest';
import type { StdioToolServer } from '@svc/contract/tool-server.ts';
import { mask, maskEntry, plainSecrets, secretsIn } from './mask-entry.ts';

const common = { enabled: true, safe: false };
const stdio = (fields: Partial<StdioToolServer>): StdioToolServer => ({
  type: 'stdio',
  command: 'npx',
  args: [],
  env: {},
  ...common,
  ...fields,
});

test('values of an environment are masked, secret references are shown, and likely secrets are warned about', () => {
  const env = {
    GITHUB_TOKEN: 'abc',
    SOMETHING: 'ghp_0123456789abcdefghijABCDEFGHIJ012345',
    DATABASE: 'postgres://me:pw@db.example/x',
    RANDOM: 'Zk3pQ8vX1mN6bT4cW7yR2sL9',
    OTHER_KEY: '${secret:OTHER_KEY}',
    LEVEL: 'debug',
    FOLDER: '/home/ada/projects/the-long-name-of-a-folder',
    ID: '11111111-2222-4333-8444-555555555555',
  };
  expect(maskEntry(stdio({ env }))).toMatchObject({
    env: { ...Object.fromEntries(Object.keys(env).map((name) => [name, mask])), OTHER_KEY: env.OTHER_KEY },
  });
  expect(plainSecrets(stdio({ env }))).toHaveLength(4);
});

test('arguments are masked after a flag that names a secret', () => {
  const args = ['--token', 'abc', '--key=def', '--port', '80', '-v', 'sk-0123456789abcdef0123'];
  const entry = stdio({ args });
  expect(maskEntry(entry)).toMatchObject({ args: ['--token', mask, `--key=${mask}`, '--port', '80', '-v', mask] });
  expect(secretsIn(entry)).toEqual(['abc', 'def', 'sk-0123456789abcdef0123']);
});

test('headers and query parameters that hold secrets are masked', () => {
  const headers = { Authorization: 'Bearer abc', 'X-Api-Key': 'Bearer ${secret:A}', Accept: 'text/plain' };
  const entry = { type: 'http' as const, url: 'https://x.example/mcp?api_key=abc&page=1', headers, ...common };
  expect(maskEntry(entry)).toMatchObject({
    url: `https://x.example/mcp?api_key=${mask}&page=1`,
    headers: { ...headers, Authorization: mask },
  });
  expect(secretsIn(entry)).toEqual(['abc', 'abc']);
});
