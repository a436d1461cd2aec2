import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RestorePlan } from '@svc/contract/backup.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { applyRestore } from '../src/restore/apply-restore.ts';
import { confirmRestore, makeRestoreFolder, restoreState, stageRestore, undoRestore } from '../src/restore/restore-state.ts';

const program = path.join(import.meta.dirname, 'fixtures', 'apply-until.ts');
const plan: RestorePlan = { id: 'bak_1', created_at: 0, version: '0.1.0', staged_at: 1, secrets: 'kept', files: 4, bytes: 9 };

type Tree = Record<string, string>;
const oldState: Tree = {
  'core.db': 'old core',
  'core.db-journal': 'old changes',
  'core.db-wal': 'old pages',
  'manager.db': 'old manager',
  'collector-search.db': 'old index',
  'collector-search.db-wal': 'old index',
  'pricing.json': 'old prices',
  'instances/compat/keys.json': 'old keys',
  'uploads/2026-01-01/a': 'old upload',
  'secrets.json': 'old secrets',
  'logs/core.log': 'a log',
  'moderation.deny.txt': 'old rules',
  'connectors/shop/index.ts': 'old code',
  'connectors/shop/gone.ts': 'old code',
  'connectors/shop/.env': 'a key',
  'connectors/shop/node_modules/a/index.js': 'a package',
  'connectors/mine/src/index.ts': 'newer code',
};
const incoming: Tree = {
  'core.db': 'new core',
  'collector.db': 'new collector',
  'instances/other/state.json': 'new state',
  'uploads/2026-02-02/b': 'new upload',
  'moderation.deny.txt': 'new rules',
  'connectors/shop/index.ts': 'code of the backup',
};
/** Files of connectors that no backup includes, and connectors missing in this one. */
const stays: Tree = {
  'logs/core.log': 'a log',
  'connectors/shop/.env': 'a key',
  'connectors/shop/node_modules/a/index.js': 'a package',
  'connectors/mine/src/index.ts': 'newer code',
};
const afterwards: Tree = {
  ...incoming,
  ...stays,
  'instances/compat/keys.json': 'old keys',
  'secrets.json': 'old secrets',
};

function write(folder: string, tree: Tree): void {
  for (const [name, content] of Object.entries(tree)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
}

function read(folder: string): Tree {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  return Object.fromEntries(
    names.filter((name) => !name.startsWith('restore/')).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
  );
}

function stage(folder: string, tree: Tree, secrets: RestorePlan['secrets'] = 'kept'): void {
  const staged = path.join(makeRestoreFolder(folder), 'incoming');
  write(path.join(staged, 'files'), tree);
  stageRestore(folder, staged, { ...plan, secrets });
}

function dataFolder(): string {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  write(folder, oldState);
  return folder;
}

function copyOf(folder: string): string {
  const copy = temporaryFolder();
  onTestFinished(copy.remove);
  cpSync(folder, copy.path, { recursive: true });
  return copy.path;
}

/** Has a process apply what is pending, and be killed before or after one of its renames. */
const kill = (folder: string, nth: number, when: string) =>
  spawnSync(process.execPath, [program, folder, String(nth), when]).signal;

describe('restore', () => {
  test('changes nothing until the next start', () => {
    const folder = dataFolder();
    expect(restoreState(folder)).toBeNull();
    stage(folder, incoming);
    expect(read(folder)).toEqual(oldState);
    expect(restoreState(folder)).toEqual({ state: 'pending', plan });
  });

  test('puts the backup in place at the start, keeps the secrets, and keeps the old state until it is confirmed', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    expect(applyRestore(folder)).toEqual([expect.stringContaining('is in place')]);
    expect(read(folder)).toEqual(afterwards);
    expect(restoreState(folder)?.state).toBe('applied');
    expect(existsSync(path.join(folder, 'restore', 'replaced', 'files', 'core.db-journal'))).toBe(true);
    // Another start before the core has confirmed changes nothing.
    expect(applyRestore(folder)).toEqual([]);
    expect(restoreState(folder)?.state).toBe('applied');
    confirmRestore(folder);
    expect(applyRestore(folder)).toEqual([]);
    expect(read(folder)).toEqual(afterwards);
    expect(existsSync(path.join(folder, 'restore', 'replaced'))).toBe(false);
    expect(restoreState(folder)).toBeNull();
  });

  test('does not follow a link in the folder of instances', () => {
    const folder = dataFolder();
    const elsewhere = dataFolder();
    symlinkSync(path.join(elsewhere, 'instances', 'compat'), path.join(folder, 'instances', 'linked'));
    stage(folder, incoming);
    applyRestore(folder);
    expect(existsSync(path.join(folder, 'instances', 'linked', 'keys.json'))).toBe(false);
  });

  test('replaces the secrets if it has its own, and brings the old ones back when undone', () => {
    const folder = dataFolder();
    const withSecrets = { ...incoming, 'vault/vault.db': 'a vault', 'instances/compat/keys.json': 'new keys' };
    stage(folder, withSecrets, 'restored');
    applyRestore(folder);
    expect(read(folder)).toEqual({ ...withSecrets, ...stays, 'secrets.json': 'old secrets' });
    undoRestore(folder);
    applyRestore(folder);
    expect(read(folder)).toEqual(oldState);
  });

  test('of a backup without deny file and connectors keeps the present ones', () => {
    const folder = dataFolder();
    stage(folder, { 'core.db': 'older' });
    applyRestore(folder);
    const { 'moderation.deny.txt': rules, 'connectors/shop/gone.ts': code } = read(folder);
    expect([rules, code]).toEqual(['old rules', 'old code']);
  });

  test('keeps links among the connectors as links, and discards an incomplete copy', () => {
    const folder = dataFolder();
    const outside = temporaryFolder();
    onTestFinished(outside.remove);
    write(outside.path, { 'index.ts': 'not to be copied' });
    symlinkSync(outside.path, path.join(folder, 'connectors', 'linked'));
    symlinkSync('../mine', path.join(folder, 'connectors', 'shop', 'near'));
    stage(folder, incoming);
    write(path.join(folder, 'restore', 'pending', 'keeping'), { 'half.ts': 'half' });
    applyRestore(folder);
    expect(readlinkSync(path.join(folder, 'connectors', 'linked'))).toBe(outside.path);
    expect(readlinkSync(path.join(folder, 'connectors', 'shop', 'near'))).toBe('../mine');
    expect(existsSync(path.join(folder, 'connectors', 'half.ts'))).toBe(false);
    expect(readFileSync(path.join(folder, 'connectors', 'mine', 'src', 'index.ts'), 'utf8')).toBe('newer code');
  });

  test('can be undone while it is pending', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    expect(undoRestore(folder)).toBe('pending');
    expect(restoreState(folder)).toBeNull();
    expect(applyRestore(folder)).toEqual([]);
    expect(read(folder)).toEqual(oldState);
    expect(undoRestore(folder)).toBeNull();
  });

  test('is undone at the next start, along with files written since', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    applyRestore(folder);
    write(folder, { 'core.db-wal': 'newer pages', 'trust.seed.json': 'newer seed' });
    expect(undoRestore(folder)).toBe('at_next_start');
    expect(restoreState(folder)?.state).toBe('undoing');
    expect(applyRestore(folder)).toEqual([expect.stringContaining('was undone. The earlier state is back')]);
    expect(read(folder)).toEqual(oldState);
    expect(restoreState(folder)).toBeNull();
  });

  test('that failed half-way, as files of another user cannot be moved, is undone without losing anything', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    const refuse = (from: string, to: string) => {
      if (from.endsWith('uploads')) throw new Error('EACCES: permission denied');
      renameSync(from, to);
    };
    expect(() => applyRestore(folder, refuse)).toThrow('EACCES');
    expect(read(folder)).not.toHaveProperty(['core.db']);
    expect(undoRestore(folder)).toBe('at_next_start');
    expect(applyRestore(folder, refuse)).toEqual([expect.stringContaining('The earlier state is back')]);
    expect(read(folder)).toEqual(oldState);
  });

  test('staged after another one replaces it', () => {
    const folder = dataFolder();
    stage(folder, { 'core.db': 'older' });
    stage(folder, incoming);
    applyRestore(folder);
    expect(read(folder)).toEqual(afterwards);
  });
});

/** Copies of a data folder as a kill leaves it before and after each rename of what is pending: what is in its files then, and no more. */
function killedFolders(folder: string): { moment: string; copy: string }[] {
  const killed: { moment: string; copy: string }[] = [];
  let count = 0;
  applyRestore(folder, (from, to) => {
    count++;
    killed.push({ moment: `before ${count}`, copy: copyOf(folder) });
    renameSync(from, to);
    killed.push({ moment: `after ${count}`, copy: copyOf(folder) });
  });
  return killed;
}

describe('[S03] a start that is killed', () => {
  const renames = 17; // eleven names out, six in

  test('at any of the renames ends with all of the backup', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    const killed = killedFolders(folder);
    expect(killed).toHaveLength(2 * renames);
    for (const { moment, copy } of killed) {
      applyRestore(copy);
      expect(read(copy), moment).toEqual(afterwards);
      undoRestore(copy);
      applyRestore(copy);
      expect(read(copy), `${moment}, undone`).toEqual(oldState);
    }
  });

  test('at any of the renames of an undo ends with all of the old', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    applyRestore(folder);
    undoRestore(folder);
    const killed = killedFolders(folder);
    expect(killed).toHaveLength(2 * renames);
    for (const { moment, copy } of killed) {
      applyRestore(copy);
      expect(read(copy), moment).toEqual(oldState);
    }
  });

  test('at any of the renames can be undone', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    for (const { moment, copy } of killedFolders(folder)) {
      expect(undoRestore(copy), moment).toBe('at_next_start');
      applyRestore(copy);
      expect(read(copy), moment).toEqual(oldState);
      expect([restoreState(copy), applyRestore(copy)]).toEqual([null, []]);
    }
  });

  test('is undone although the start that undoes it is killed, too', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    // All of the old is out, and half of the new is in.
    const half = killedFolders(folder).find(({ moment }) => moment === 'before 15')?.copy ?? '';
    expect(undoRestore(half)).toBe('at_next_start');
    for (const { moment, copy } of killedFolders(half)) {
      applyRestore(copy);
      expect([read(copy), restoreState(copy)], moment).toEqual([oldState, null]);
    }
  });

  test('repeatedly is followed by a complete restore', () => {
    const folder = dataFolder();
    stage(folder, incoming);
    for (const [index, when] of ['after', 'before', 'after', 'before', 'after'].entries())
      expect(kill(folder, index + 1, when)).toBe('SIGKILL');
    expect(restoreState(folder)).toMatchObject({ state: 'pending' });
    applyRestore(folder);
    expect(read(folder)).toEqual(afterwards);
  });
});
