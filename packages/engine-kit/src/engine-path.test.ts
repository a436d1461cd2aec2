import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { absence, findEngine, type EngineSearch } from './engine-path.ts';

let folder: TemporaryFolder;
let dir: string;
beforeEach(() => {
  folder = temporaryFolder();
  dir = folder.path;
});
afterEach(() => folder.remove());

const search = (fields: Partial<EngineSearch<{ at: string }>> = {}): EngineSearch<{ at: string }> => ({
  id: 'x',
  explicit: null,
  enginesDir: path.join(dir, 'engines'),
  program: 'x',
  searchPath: path.join(dir, 'bin'),
  accept: (at) => ({ at }),
  ...fields,
});

const addProgram = () => {
  mkdirSync(path.join(dir, 'bin'));
  writeFileSync(path.join(dir, 'bin/x'), '');
  chmodSync(path.join(dir, 'bin/x'), 0o755);
};
const addInstalled = () => mkdirSync(path.join(dir, 'engines/x/current'), { recursive: true });

describe('findEngine()', () => {
  test('prefers the installed engine to the one on PATH', () => {
    addProgram();
    addInstalled();
    expect(findEngine(search())).toMatchObject({ found: true, from: 'installed' });
  });

  test('uses the program on PATH when none is installed', () => {
    addProgram();
    expect(findEngine(search())).toMatchObject({ found: true, from: 'path', value: { at: path.join(dir, 'bin/x') } });
  });

  test('does not fall back when the explicit path is wrong', () => {
    addProgram();
    expect(findEngine(search({ explicit: path.join(dir, 'nowhere') }))).toEqual({
      found: false,
      reason: `nothing at ${dir}/nowhere`,
    });
  });

  test('reports an absent engine with the command that installs it', () => {
    const result = findEngine(search());
    expect(result).toMatchObject({ found: false, isAbsent: true, reason: expect.stringContaining('on PATH') });
    expect(result.found || absence('X', 'x', result)).toBe('X is not installed: "./svc engine install x".');
  });

  test('gives the reason why a candidate was rejected', () => {
    addInstalled();
    const result = findEngine(search({ accept: () => 'half installed' }));
    expect(result).toMatchObject({ found: false, reason: expect.stringContaining('half installed') });
    expect(result.found || absence('X', 'x', result)).toContain('X is not installed (');
  });
});
