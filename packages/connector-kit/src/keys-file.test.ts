import fs, { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, onTestFinished } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createKeysFile } from './keys-file.ts';

describe('keys file', () => {
  let folder: TemporaryFolder;
  let file: string;
  let clock: FakeClock;
  let logs: string[];
  const log = (level: string, message: string, fields?: object) => void logs.push(JSON.stringify({ level, message, ...fields }));
  const write = (...entries: unknown[]) => writeFileSync(file, JSON.stringify({ keys: entries }), { mode: 0o600 });
  const ann = { key: 'ann-key', identity: 'ann', username: 'Ann' };

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder.path, 'keys.json');
    clock = createFakeClock();
    logs = [];
  });
  afterEach(() => folder.remove());
  const open = () => createKeysFile({ file, clock, log });

  test('maps a key to its identity, and any other text to null', () => {
    write(ann);
    const keys = open();
    expect(keys.find('ann-key')).toEqual({ identity: 'ann', username: 'Ann' });
    for (const wrong of ['', 'ann-ke', 'ann-key ', 'ANN-KEY', 'x'.repeat(100_000), 'schlüssel'])
      expect(keys.find(wrong)).toBeNull();
    expect(keys.problem()).toBeNull();
  });

  test('rejects an entry with the reserved identity "anonymous"', () => {
    write(ann, { key: 'other-key', identity: 'anonymous' });
    const keys = open();
    expect(keys.find('other-key')).toBeNull();
    expect(keys.problem()).toContain('keys[1].identity is "anonymous"');
  });

  test('matches a key beyond ASCII by the bytes of a header', () => {
    write({ ...ann, key: 'schlüssel' });
    expect(open().find(Buffer.from('schlüssel').toString('latin1'))?.identity).toBe('ann');
  });

  test('rejects a removed key within five seconds', () => {
    write(ann);
    const keys = open();
    expect(keys.find('ann-key')).not.toBeNull();
    write();
    clock.advance(4_999);
    expect(keys.find('ann-key')).toBeNull();
  });

  test('accepts an added key, also when the file is replaced by renaming', () => {
    write();
    const keys = open();
    expect(keys.find('ann-key')).toBeNull();
    const next = path.join(folder.path, 'next.json');
    writeFileSync(next, JSON.stringify({ keys: [ann] }), { mode: 0o600 });
    renameSync(next, file);
    clock.advance(1_000);
    expect(keys.find('ann-key')?.identity).toBe('ann');
  });

  test('is read again when a file of the same size and age replaces it', () => {
    const writeOld = (key: string) => (write({ ...ann, key }), utimesSync(file, 1, 1));
    writeOld('ann-key');
    const keys = open();
    expect(keys.find('ann-key')).not.toBeNull();
    writeOld('new-key');
    clock.advance(1_000);
    expect([keys.find('ann-key'), keys.find('new-key')?.identity]).toEqual([null, 'ann']);
  });

  test('is not read again while it is unchanged', () => {
    write(ann);
    const keys = open();
    for (let i = 0; i < 5; i++) {
      keys.find('ann-key');
      clock.advance(2_000);
    }
    expect(logs.filter((line) => line.includes('keys file read'))).toHaveLength(1);
  });

  test.each([
    ['malformed', () => writeFileSync(file, '{"keys": [', { mode: 0o600 })],
    ['gone', () => rmSync(file)],
    ['not a file', () => (rmSync(file), mkdirSync(file))],
    ['a link to itself', () => (rmSync(file), symlinkSync('keys.json', file))],
  ])('rejects all keys while it is %s, and reports the problem', (_what, spoil) => {
    write(ann);
    const keys = open();
    expect(keys.find('ann-key')).not.toBeNull();
    spoil();
    clock.advance(1_000);
    // Twice: from the file, then from the cache.
    for (let i = 0; i < 2; i++) expect(keys.find('ann-key')).toBeNull();
    expect(keys.problem()).toMatch(/lets nobody in/);
    expect(keys.problem()).not.toContain(folder.path);
    rmSync(file, { recursive: true, force: true });
    write(ann);
    clock.advance(1_000);
    expect(keys.find('ann-key')).not.toBeNull();
    expect(keys.problem()).toBeNull();
  });

  test('logs a warning when others can read it', () => {
    write(ann);
    chmodSync(file, 0o644);
    expect(open().find('ann-key')).not.toBeNull();
    expect(logs.join('\n')).toMatch(/"level":"warn".*0600/);
  });

  test('writes no key to the log', () => {
    write(ann);
    const keys = open();
    keys.find('ann-key');
    keys.find('some-other-key');
    expect(logs.join('\n')).not.toMatch(/ann-key|some-other-key/);
  });
});

/** As if the process had too many open files. */
function breakReading(): () => void {
  const real = fs.readFileSync;
  const set = (read: typeof real) => {
    fs.readFileSync = read;
    syncBuiltinESMExports();
  };
  set(() => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  });
  return () => set(real);
}

test('[K04] a keys file that was unreadable for a while is read again without a restart', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'keys.json');
  fs.writeFileSync(file, JSON.stringify({ keys: [{ key: 'ann-key', identity: 'ann' }] }), { mode: 0o600 });
  const clock = createFakeClock();
  const logs: string[] = [];
  const keys = createKeysFile({ file, clock, log: (level, message) => void logs.push(`${level}: ${message}`) });
  const repair = breakReading();
  onTestFinished(repair);
  for (let second = 0; second < 5; second++) {
    expect(keys.find('ann-key')).toBeNull();
    clock.advance(1000);
  }
  expect(logs).toEqual(['error: The keys file lets nobody in: it cannot be read (EMFILE).']);
  repair();
  expect(keys.find('ann-key')?.identity).toBe('ann');
  expect(keys.problem()).toBeNull();
});
