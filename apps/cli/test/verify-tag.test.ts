import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openGit } from '../src/update/git.ts';
import { whyNotSigned } from '../src/update/verify-tag.ts';

let folder: TemporaryFolder;
const at = (name: string) => path.join(folder.path, name);
const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder.path, env, encoding: 'utf8', stdio: 'pipe' }).trim();

beforeEach(() => {
  folder = temporaryFolder();
  git('init', '--quiet');
  for (const [name, value] of Object.entries({ 'user.name': 'Ann', 'user.email': 'ann@example.org', 'gpg.format': 'ssh' }))
    git('config', name, value);
  for (const key of ['ours', 'theirs']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  writeFileSync(at('release-signers'), `# who may\nann@example.org ${readFileSync(at('ours.pub'), 'utf8')}`);
  git('commit', '--quiet', '--allow-empty', '--message', 'one');
});
afterEach(() => folder.remove());

/** As a fetch leaves it. */
const fetched = (tag: string, of = tag) => git('update-ref', `refs/svc/fetched/${of}`, git('rev-parse', `refs/tags/${tag}`));
const sign = (tag: string, key: string) => git('-c', `user.signingkey=${at(key)}`, 'tag', '--sign', '--message', tag, tag);
const why = (tag: string) => whyNotSigned(openGit(folder.path), tag, folder.path);

test('accepts a tag signed by a signer of releases', async () => {
  sign('v1.0.0', 'ours');
  fetched('v1.0.0');
  expect(await why('v1.0.0')).toBeNull();
});

test('rejects a tag signed by another key, an unsigned tag and a lightweight tag', async () => {
  sign('v1.0.0', 'theirs');
  git('tag', '--annotate', '--message', 'x', 'v1.0.1');
  git('tag', 'v1.0.2');
  for (const tag of ['v1.0.0', 'v1.0.1', 'v1.0.2']) {
    fetched(tag);
    expect(await why(tag), tag).not.toBeNull();
  }
});

test('rejects an old release that is offered under the name of a newer one', async () => {
  sign('v1.0.0', 'ours');
  fetched('v1.0.0', 'v9.0.0');
  expect(await why('v9.0.0')).toContain('v1.0.0');
});

test('ignores the allowed signers in the git configuration of the user', async () => {
  sign('v1.0.0', 'theirs');
  fetched('v1.0.0');
  writeFileSync(at('mine'), `ann@example.org ${readFileSync(at('theirs.pub'), 'utf8')}`);
  git('config', 'gpg.ssh.allowedSignersFile', at('mine'));
  expect(await why('v1.0.0')).not.toBeNull();
});

test('rejects every release when the version lists no key', async () => {
  sign('v1.0.0', 'ours');
  fetched('v1.0.0');
  writeFileSync(at('release-signers'), '# nobody yet\n');
  expect(await why('v1.0.0')).toContain('No release can be verified');
});
