import { ServiceError } from '@svc/service-kit/service-error.ts';
import { expect, test } from 'vitest';
import { CliError, renderCliError, toCliError } from './cli-error.ts';
import { plain } from './terminal.ts';

test('an error shows what failed, why and what to run, wrapped at the width', () => {
  const why =
    'The passphrase is not the one of this vault.\nPort 3023 (core) is used by a program with a name that is rather long.';
  const error = new CliError('the vault refuses, and says so in lines that are many.', { why, run: './svc vault unseal' });
  expect(renderCliError(error, plain, 50)).toBe(
    [
      'svc: the vault refuses, and says so in lines that',
      '     are many.',
      '     The passphrase is not the one of this vault.',
      '     Port 3023 (core) is used by a program with a',
      '     name that is rather long.',
      'Run: ./svc vault unseal',
    ].join('\n'),
  );
});

test('an error keeps stack lines and commands unwrapped', () => {
  const stack = `    at somewhere (${'long/'.repeat(30)}file.ts:1:1)`;
  expect(renderCliError(new CliError('no.', { why: `Error: boom\n${stack}` }), plain)).toContain(`\n     ${stack}`);
  const run = `./svc backup get bak_1 ${'/a folder'.repeat(12)}`;
  expect(renderCliError(new CliError('no.', { run }), plain)).toContain(`Run: ${run}`);
});

test.each([
  ['ENOENT', 'There is no /data/x.'],
  ['EACCES', 'This user has no permission to use /data/x.'],
  ['EROFS', '/data/x is on a disk that is read-only.'],
  ['ENOSPC', 'The disk of /data/x is full.'],
  ['EEXIST', '/data/x already exists.'],
  ['EMFILE', 'EMFILE: as the system says it'],
])('explains %s of a file in plain words', (code, why) => {
  const error = Object.assign(new Error(`${code}: as the system says it`), { code, path: '/data/x' });
  expect(toCliError(error)).toMatchObject({ message: 'a file cannot be used.', why, run: './svc doctor' });
});

test.each([
  ['The vault is sealed. Open it: ./svc vault unseal', './svc vault unseal'],
  ['Codex is not installed: "./svc engine install codex".', './svc engine install codex'],
  ['x waits, and the vault is sealed. Open it: ./svc vault unseal. x then starts by itself.', './svc vault unseal'],
  ['Stop ./svc up first.', null],
  ['It is not ours.', null],
])('takes the command to run from a reason that names it: %s', (why, run) => {
  expect(new CliError('no.', { why }).run).toBe(run);
  expect(new CliError('no.', { why, run: './svc doctor' }).run).toBe('./svc doctor');
});

test.each([
  [new ServiceError('conflict', 'The vault is sealed. Open it: ./svc vault unseal'), 'the command failed.', './svc vault unseal'],
  [Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), 'the connection broke.', './svc status'],
  [new Error('aborted'), 'the connection broke.', './svc status'],
  [Object.assign(new Error('getaddrinfo ENOTFOUND x'), { code: 'ENOTFOUND' }), 'the connection broke.', './svc status'],
  [new DOMException('timed out', 'TimeoutError'), 'no answer came in time.', './svc status'],
])('an expected error shows no stack: %s', (error, message, run) => {
  const shown = toCliError(error);
  expect(shown).toMatchObject({ message, run });
  expect(shown.why ?? '').not.toMatch(/^\s+at /m);
});

test('an unexpected error shows its stack for a report', () => {
  expect(toCliError(new TypeError('x is undefined'))).toMatchObject({
    message: 'an unexpected error occurred.',
    why: expect.stringMatching(/TypeError: x is undefined\n\s+at /) as string,
  });
});
