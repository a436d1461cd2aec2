import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openTestControl, type TestControl } from './open-test-control.ts';

let folder: TemporaryFolder;
let repo: string;
let control: TestControl;
const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args], {
    cwd: repo,
    env,
    encoding: 'utf8',
  });
const write = (name: string, text: string) => writeFileSync(path.join(repo, name), text);

beforeEach(async () => {
  folder = temporaryFolder();
  repo = path.join(folder.path, 'repo');
  mkdirSync(path.join(repo, 'sub'), { recursive: true });
  git('init', '-q');
  control = await openTestControl({
    s: { cwd: path.join(repo, 'sub') },
    nowhere: {},
    outside: { cwd: folder.path },
    relative: { cwd: 'repo' },
    missing: { cwd: path.join(folder.path, 'gone') },
  });
});
afterEach(async () => {
  await control.close();
  folder.remove();
});

const diff = (session = 's') => control.send('GET', `/api/control/diff?session_id=${session}`);

test('the diff shows changes in the work tree of the session and lists new files', async () => {
  write('a.txt', 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  write('a.txt', 'two\n');
  write('new.txt', 'new\n');
  const { status, body } = await diff();
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, action: 'diff', target: 's', root: repo, branch: 'main', truncated: false });
  expect(body['files']).toEqual([' M a.txt', '?? new.txt']);
  expect(body['diff']).toContain('-one\n+two\n');
  expect(await control.audit()).toMatchObject([{ action: 'diff', outcome: 'done' }]);
});

test('the diff works in a repository without a commit', async () => {
  write('a.txt', 'one\n');
  git('add', '.');
  expect((await diff()).body['diff']).toContain('+one');
});

test('a session without a folder gets the repository of the files that its tools touched', async () => {
  expect((await diff('nowhere')).status).toBe(409);
  const event = { kind: 'tool', session: 'nowhere', text: 'Edit', payload: { input: { file_path: path.join(repo, 'a.txt') } } };
  const headers = { authorization: 'Bearer a-token-of-reading', 'content-type': 'application/json' };
  await control.collector.app.inject({ method: 'POST', url: '/ingest', headers, payload: JSON.stringify(event) });
  expect((await diff('nowhere')).body['root']).toBe(repo);
});

test.each(['outside', 'relative', 'missing'])('a session outside of any repository has no diff (%s)', async (session) => {
  expect((await diff(session)).status).toBe(409);
});

test('a large diff is truncated and says so', async () => {
  write('a.txt', '');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  write('a.txt', 'line of text\n'.repeat(200_000));
  const { body } = await diff();
  expect(body['truncated']).toBe(true);
  expect(String(body['diff']).length).toBeLessThanOrEqual(1024 * 1024);
});

test('runs no program that a hostile repository configures', async () => {
  const canary = path.join(folder.path, 'canary');
  const program = path.join(folder.path, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${canary}'\ncat\n`);
  chmodSync(program, 0o755);
  for (const name of ['a.txt', 'b.bin', 'd.d']) write(name, 'one\n');
  write('.gitattributes', '*.txt diff=evil filter=evil\n*.bin filter=other.name\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  for (const [name, value] of [
    ['diff.external', program],
    ['diff.evil.command', program],
    ['diff.evil.textconv', program],
    ['diff.evil.cachetextconv', 'true'],
    ['filter.evil.clean', program],
    ['filter.evil.smudge', program],
    ['filter.evil.required', 'true'],
    ['filter.other.name.process', program],
    ['filter..clean', program],
    ['core.fsmonitor', program],
    ['core.hooksPath', folder.path],
    ['core.pager', program],
    ['pager.diff', program],
    ['pager.status', program],
    ['core.sshCommand', program],
    ['core.editor', program],
    ['core.gitProxy', program],
    ['alias.diff', `!${program}`],
    ['alias.status', `!${program}`],
    ['credential.helper', program],
    ['remote.origin.url', `ext::${program}`],
    ['remote.origin.promisor', 'true'],
    ['protocol.ext.allow', 'always'],
    ['extensions.partialClone', 'origin'],
  ])
    git('config', name ?? '', value ?? '');
  const included = path.join(folder.path, 'included');
  writeFileSync(included, `[filter "third"]\n\tclean = ${program}\n`);
  git('config', 'include.path', included);
  write('.gitattributes', '*.txt diff=evil filter=evil\n*.bin filter=other.name\n*.c filter=third\n*.d filter=\n');
  write('c.c', 'x\n');
  for (const hook of ['post-index-change', 'pre-commit', 'post-checkout', 'fsmonitor-watchman', 'reference-transaction']) {
    symlinkSync(program, path.join(folder.path, hook));
    symlinkSync(program, path.join(repo, '.git/hooks', hook));
  }
  for (const name of ['a.txt', 'b.bin', 'd.d']) write(name, 'two\n');
  const { status, body } = await diff();
  expect(existsSync(canary)).toBe(false);
  expect(status).toBe(200);
  expect(body['diff']).toContain('-one\n+two\n');
});

test.each([
  ['of a name with a sign in it that ends one', 'a=b', ''],
  ['of a name that is no text', '\xff', ''],
  [
    'in a list that is too long to read',
    'z',
    Array.from({ length: 12_000 }, (_, n) => `[filter "${'f'.repeat(20)}${n}"]\nx = 1\n`).join(''),
  ],
])('refuses a repository with a filter %s, and runs nothing of it', async (_what, name, more) => {
  const canary = path.join(folder.path, 'canary');
  const program = path.join(folder.path, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${canary}'\ncat\n`);
  chmodSync(program, 0o755);
  write('a.txt', 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  writeFileSync(path.join(repo, '.gitattributes'), `*.txt filter=${name}\n`, 'latin1');
  writeFileSync(path.join(repo, '.git/config'), `${more}[filter "${name}"]\nclean = ${program}\n`, 'latin1');
  write('a.txt', 'two\n');
  const { status } = await diff();
  expect(existsSync(canary)).toBe(false);
  expect(status).toBe(409);
});
