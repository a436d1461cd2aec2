import { expect, test } from 'vitest';
import { checkEntry, nameProblem } from './check-entry.ts';

const fieldsOf = (fields: object) => checkEntry(fields).problems.map(({ field }) => field);

test('a program needs only a command, and is enabled and not safe by default', () => {
  expect(checkEntry({ command: 'npx' }).entry).toEqual({
    type: 'stdio',
    command: 'npx',
    args: [],
    env: {},
    enabled: true,
    safe: false,
  });
});

test('a remote server needs only an address', () => {
  expect(checkEntry({ url: 'https://tools.example/mcp' }).entry).toEqual({
    type: 'http',
    url: 'https://tools.example/mcp',
    enabled: true,
    safe: false,
  });
});

test('an entry may name its type, but not a contradicting one', () => {
  expect(checkEntry({ type: 'stdio', command: 'npx' }).entry).toEqual(checkEntry({ command: 'npx' }).entry);
  expect(checkEntry({ type: 'http', url: 'https://x.example/' }).entry).toEqual(checkEntry({ url: 'https://x.example/' }).entry);
  expect(fieldsOf({ type: 'http', command: 'npx' })).toEqual(['type']);
  for (const type of ['stdio', 'sse', null, 7]) expect(fieldsOf({ type, url: 'https://x.example/' })).toEqual(['type']);
});

test('all problems of an entry are reported at once', () => {
  const fields = { command: './here', args: ['ok', 7], env: { 'A B': 'x', GOOD: 1 }, safe: 'yes', description: 4 };
  expect(fieldsOf(fields)).toEqual(['safe', 'description', 'command', 'args.1', 'env.A B', 'env.GOOD']);
});

test.each([
  ['neither a command nor a url', {}],
  ['both', { command: 'npx', url: 'http://x.example/' }],
  ['a blank command', { command: ' ' }],
  ['a relative path, which would be looked for in the folder of the one who asks', { command: 'tools/server' }],
  ['a whole command line', { command: 'npx -y some-server' }],
  ['an argument that is no text', { command: 'npx', args: [{}] }],
  ['a zero byte', { command: 'npx', args: ['a\0b'] }],
  ['headers of a program', { command: 'npx', headers: {} }],
  ['an environment of a remote server', { url: 'http://x.example/', env: {} }],
  ['another scheme', { url: 'file:///etc/passwd' }],
  ['a password in the address', { url: 'https://me:pw@x.example/mcp' }],
  ['a line break in a header', { url: 'http://x.example/', headers: { a: 'b\r\nc: d' } }],
  ['a header that cannot be one', { url: 'http://x.example/', headers: { 'a b': 'c' } }],
  ['a secret in an argument, which shows in the list of processes', { command: 'npx', args: ['${secret:A}'] }],
  ['a secret in an address', { url: 'https://x.example/?key=${secret:A}' }],
  ["a secret of the service's own", { command: 'npx', env: { A: '${secret:SVC_MANAGER_TOKEN}' } }],
  ['a reference that is not closed', { command: 'npx', env: { A: '${secret:B' } }],
  ['a mask in place of a value', { command: 'npx', env: { A: 'Bearer [redacted:secret]' } }],
])('rejects an entry with %s', (_what, fields) => {
  expect(checkEntry(fields).entry).toBeNull();
});

test.each(['a', 'my-server_2', 'a'.repeat(64)])('accepts %s as a name', (name) => expect(nameProblem(name)).toBeNull());

test.each(['', 'A', 'a b', 'a.b', 'a/b', 'ä', 'a'.repeat(65), '__proto__', 'a__b', 7, null])('rejects %s as a name', (name) =>
  expect(nameProblem(name)).not.toBeNull(),
);
