import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { parseCommand } from '../src/config/parse-values.ts';
import { createSecretSources } from '../src/secrets/secret-sources.ts';
import { writeSecret } from '../src/secrets/secrets-file.ts';

let dir: string;
let file: string;
beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  dir = folder.path;
  file = path.join(dir, 'secrets.json');
});

const put = (text: string, mode = 0o600) => {
  writeFileSync(file, text);
  chmodSync(file, mode);
};
/** A shell script with these lines; its last argument is the name. */
const program = (lines: string): string[] => {
  const place = path.join(dir, 'give');
  writeFileSync(place, `#!/bin/sh\n${lines}\n`, { mode: 0o700 });
  return [place];
};
const find = async (name: string, over: { env?: Record<string, string>; command?: string[] } = {}) => {
  const found = await createSecretSources({
    env: { PATH: process.env['PATH'], ...over.env },
    file,
    command: over.command ?? null,
  }).find(name);
  return 'value' in found ? `${found.from}: ${found.value.reveal()}` : found.problem;
};

describe('createSecretSources()', () => {
  test('looks in the environment, then in the file, then asks the command', async () => {
    put('{"A":"a-file","B":"b-file"}');
    const over = { env: { A: 'a-env' }, command: program('echo "$1-command"') };
    expect([await find('A', over), await find('B', over), await find('C', over)]).toEqual([
      'environment: a-env',
      'file: b-file',
      'command: C-command',
    ]);
  });

  test('names the places for a secret that is not set', async () => {
    const where = `the environment or into ${file} (docs/secrets.md).`;
    expect(await find('TOKEN')).toBe(`The secret "TOKEN" is not set. Put it into ${where}`);
    expect(await find('constructor')).toContain('is not set');
  });

  test('names the vault, too, if there is one', async () => {
    const found = await createSecretSources({ env: {}, file, command: null }, { hasVault: true }).find('TOKEN');
    expect(found).toMatchObject({ problem: expect.stringContaining('the vault (./svc vault put TOKEN), the environment or') });
  });

  test.each([
    ['{"A":"value-a"}', 0o644, 'chmod 600'],
    ['{"A":"value-a"}', 0o640, 'chmod 600'],
    ['"value-a', 0o600, 'not a JSON object'],
    ['["value-a"]', 0o600, 'not a JSON object'],
  ])('stops at an unusable file, and keeps its content out of the message: %s %o', async (text, mode, why) => {
    put(text, mode);
    const problem = await find('A', { command: program('echo from-command') });
    expect(problem).toContain(why);
    expect(problem).not.toContain('value-a');
  });

  test('does not call the command for a name of an unsafe form', async () => {
    expect(await find('A;echo x', { command: program('echo "$1"') })).toContain('not called for names of this form');
    expect(await find('--help', { command: program('echo "$1"') })).toContain('not called for names of this form');
  });

  test.each([
    ['exit 3', 'ended with code 3'],
    ['true', 'printed nothing'],
    ['echo secret-part >&2; exit 1', 'ended with code 1'],
    ['head -c 100000 /dev/zero | tr "\\\\0" x', 'more than 64 KiB'],
  ])('reports a command that gives no value (%s), without its output', async (lines, why) => {
    const problem = await find('A', { command: program(lines) });
    expect(problem).toContain(why);
    expect(problem).not.toContain('secret-part');
  });

  test('reports a command that cannot be started', async () => {
    expect(await find('A', { command: ['/nowhere/give'] })).toContain('could not be started');
  });

  test('hides the settings of the service from the command', async () => {
    const over = { env: { SVC_MANAGER_TOKEN: 'x', OTHER: 'y' }, command: program('echo "${SVC_MANAGER_TOKEN:-none} $OTHER"') };
    expect(await find('A', over)).toBe('command: none y');
  });
});

describe('writeSecret()', () => {
  test('adds and removes values in a file that only its owner can read', async () => {
    await writeSecret(file, 'A', '1');
    await writeSecret(file, 'B', '2');
    expect([JSON.parse(readFileSync(file, 'utf8')), statSync(file).mode & 0o777]).toEqual([{ A: '1', B: '2' }, 0o600]);
    await writeSecret(file, 'A', null);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ B: '2' });
  });

  test('rejects an unusable file and leaves it unchanged', async () => {
    put('{"A":"1"}', 0o644);
    await expect(writeSecret(file, 'B', '2')).rejects.toThrow('chmod 600');
    expect(readFileSync(file, 'utf8')).toBe('{"A":"1"}');
  });

  test('writes to the target of a link and keeps the link', async () => {
    const real = path.join(dir, 'real.json');
    writeFileSync(real, '{}', { mode: 0o600 });
    symlinkSync(real, file);
    await writeSecret(file, 'A', '1');
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({ A: '1' });
  });

  test('creates no file to remove a value', async () => {
    await writeSecret(file, 'A', null);
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });
});

test.each([
  ['pass show', ['pass', 'show']],
  ['  op   read ', ['op', 'read']],
  ['["/a b/give", "--plain"]', ['/a b/give', '--plain']],
  ['[1]', null],
  ['[]', null],
  ['["a"', null],
])('parses the command line %j as %j', (line, words) => expect(parseCommand(line)).toEqual(words));
