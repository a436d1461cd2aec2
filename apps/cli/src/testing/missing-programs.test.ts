import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { missingLines, neededPrograms } from './missing-programs.ts';
import { createRunningFiles, earlierWords, lastWords, noteIn } from './running-files.ts';

test('missing programs are listed before the tests with the command that installs them', () => {
  const folder = temporaryFolder();
  const bin = path.join(folder.path, 'bin');
  mkdirSync(bin);
  for (const name of ['tmux', 'strace', 'espeak-ng', 'chromium', 'zsh', 'fish', 'nginx', 'caddy', 'dovecot', 'smtpd']) {
    writeFileSync(path.join(bin, name), '');
    chmodSync(path.join(bin, name), 0o755);
  }
  const env = { PATH: `:/nowhere:${bin}`, TEST_CHROMIUM: path.join(bin, 'chromium') };
  const all = neededPrograms({ root: folder.path, env });
  const linux = { root: folder.path, platform: 'linux' as const };
  expect(missingLines(all, linux)[1]).toMatch(/^To run them too: .+ scripts\/install-test-engines\.ts$/);
  for (const id of ['claude', 'codex', 'gemini'])
    mkdirSync(path.join(folder.path, '.cache/engines', id, 'node_modules'), { recursive: true });
  expect(missingLines(neededPrograms({ root: folder.path, env }), linux)).toEqual([]);
  chmodSync(path.join(bin, 'tmux'), 0o644);
  const without = neededPrograms({ root: folder.path, env: { ...env, TEST_CHROMIUM: '/nowhere' } });
  expect(missingLines(without, linux)).toEqual([
    'Skipped for want of a program: tmux (tests of terminals), chromium (tests of pages in a browser).',
    'To run them too: sudo apt-get install -y tmux chromium',
  ]);
  expect(missingLines(without, { ...linux, platform: 'darwin' })[1]).toBe('To run them too: brew install tmux chromium');
  const linuxAlone = { name: 'strace', tests: 'of disks', isThere: false, install: { debian: 'strace', brew: null } };
  expect(missingLines([linuxAlone], { ...linux, platform: 'darwin' })).toEqual([]);
  folder.remove();
});

test('a killed run is reported once with the files that were running', () => {
  const folder = temporaryFolder();
  const note = noteIn(path.join(folder.path, 'new'), 7);
  expect(lastWords(note)).toEqual([]);
  const running = createRunningFiles(note);
  expect(earlierWords(path.dirname(note))).toEqual([]);
  running.started('a/one.test.ts');
  running.started('a/two.test.ts');
  running.ended('a/one.test.ts');
  expect(lastWords(note)).toEqual([]);
  expect(lastWords(note, () => true)).toEqual(['A run of the tests died while this file ran:', "  ./svc test 'a/two.test.ts'"]);
  expect(lastWords(note, () => true)).toEqual([]);
  running.ended('a/two.test.ts');
  expect(lastWords(note, () => true)).toEqual([]);
  writeFileSync(note, '{"pid":');
  expect(lastWords(note)).toEqual([]);
  createRunningFiles(noteIn(path.dirname(note), 8), 2 ** 30).started('a/three.test.ts');
  expect(earlierWords(path.dirname(note))).toContain("  ./svc test 'a/three.test.ts'");
  folder.remove();
});
