import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeSocketFolder } from './socket-folder.ts';

/** A folder like that of temporary files, and one elsewhere. */
function open() {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const [shared, elsewhere] = [path.join(folder.path, 'tmp'), path.join(folder.path, 'elsewhere')];
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  mkdirSync(elsewhere);
  chmodSync(elsewhere, 0o755);
  return { own: folder.path, dir: path.join(shared, 'svc-1000-x'), elsewhere };
}

const modeOf = (dir: string) => statSync(dir).mode & 0o777;

test('creates a private folder, and restricts one that is open to others', () => {
  const { own, dir } = open();
  for (const made of [dir, path.join(own, 'data', 'run')]) {
    makeSocketFolder(made);
    chmodSync(made, 0o755);
    makeSocketFolder(made);
    expect(modeOf(made)).toBe(0o700);
  }
});

test('rejects what another user or a link may have put in a shared folder, and leaves it unchanged', () => {
  const { dir, elsewhere } = open();
  symlinkSync(elsewhere, dir);
  expect(() => makeSocketFolder(dir)).toThrow(/is not a folder of this user.*shorter path/);
  expect(modeOf(elsewhere)).toBe(0o755);
  const file = `${dir}-file`;
  writeFileSync(file, '');
  expect(() => makeSocketFolder(file)).toThrow('is not a folder of this user');
  const theirs = `${dir}-theirs`;
  mkdirSync(theirs, { mode: 0o755 });
  vi.spyOn(process, 'getuid').mockReturnValue(statSync(theirs).uid + 1);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(() => makeSocketFolder(theirs)).toThrow('is not a folder of this user');
  expect([modeOf(theirs), existsSync(path.join(theirs, 'core.sock'))]).toEqual([0o755, false]);
});
