import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readDocument, toCandidates } from './import-document.ts';

const only = (name: string, fields: unknown) => toCandidates({ mcpServers: { [name]: fields } })[0];

test('imports a program of a Claude, Cursor or Gemini file, with its variables as secrets', () => {
  const fields = { command: 'npx', args: ['-y', 'server'], env: { A: '${A_KEY}', B: '${env:B}', C: '$C', D: 'plain' } };
  expect(only('GitHub MCP', fields)).toEqual({
    name: 'GitHub MCP',
    as: 'github-mcp',
    entry: {
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'server'],
      env: { A: '${secret:A_KEY}', B: '${secret:B}', C: '${secret:C}', D: 'plain' },
      enabled: true,
      safe: false,
    },
    warnings: [],
  });
});

test.each([
  ['url', { type: 'http', url: 'https://x.example/mcp', headers: { A: 'Bearer ${T}' } }],
  ['httpUrl', { httpUrl: 'https://x.example/mcp', headers: { A: 'Bearer ${T}' } }],
  ['serverUrl', { serverUrl: 'https://x.example/mcp', headers: { A: 'Bearer ${T}' } }],
])('imports a remote server by its field "%s"', (_field, fields) => {
  expect(only('x', fields)).toMatchObject({
    entry: { type: 'http', url: 'https://x.example/mcp', headers: { A: 'Bearer ${secret:T}' } },
  });
});

test('a disabled server stays disabled, and settings that are not imported are reported', () => {
  expect(only('x', { command: 'npx', disabled: true, timeout: 5, includeTools: ['a'], trust: true })).toMatchObject({
    entry: { enabled: false },
    warnings: [expect.stringContaining('timeout, includeTools, trust'), expect.stringContaining('all its tools')],
  });
});

test.each([
  ['the older transport', { type: 'sse', url: 'https://x.example/sse' }],
  ['a working folder', { command: 'npx', cwd: '/somewhere' }],
  ['a login', { url: 'https://x.example/', oauth: {} }],
  ['a variable in an argument', { command: 'npx', args: ['${HOME}/x'] }],
  ['a variable that asks a person', { command: 'npx', env: { A: '${input:a}' } }],
  ['a variable with a default', { command: 'npx', env: { A: '${A:-b}' } }],
  ['no object', 'npx'],
  ['a relative program', { command: './server' }],
])('skips an entry with %s and gives the reason', (_what, fields) => {
  expect(only('x', fields)).toEqual({ name: 'x', reason: expect.any(String) });
});

test('skips the second of two names that become equal', () => {
  const both = toCandidates({ mcpServers: { 'a b': { command: 'x' }, 'A-B': { command: 'y' } } });
  expect(both).toMatchObject([{ as: 'a-b' }, { reason: expect.stringContaining('"a-b"') }]);
});

test('an unusable file is reported by path, without its content', () => {
  const { path: dir, remove } = temporaryFolder();
  onTestFinished(remove);
  const file = path.join(dir, 'mcp.json');
  expect(() => readDocument(file)).toThrow(`${file} cannot be imported: there is no such file.`);
  expect(() => readDocument('mcp.json')).toThrow('absolute');
  expect(() => readDocument(dir)).toThrow('not a file');
  writeFileSync(file, '{ "token": "s3cret" nonsense');
  expect(() => readDocument(file)).toThrow(/^(?!.*s3cret).*not JSON/);
  writeFileSync(file, '{"mcpServers":{"a":{"command":"x"}}}');
  expect(toCandidates(readDocument(file))).toMatchObject([{ as: 'a' }]);
});
