import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { takeCompiled } from '../src/update/take-compiled.ts';

/** A version with three modules, of which `b.ts` has this text. */
function writeVersion(folder: string, b: string): string {
  mkdirSync(folder);
  const files = {
    'package.json': '{ "type": "module" }',
    'a.ts': "export const a: string = 'a';",
    'b.ts': `export const b: string = '${b}';`,
    'main.ts': "import { a } from './a.ts';\nimport { b } from './b.ts';\nconsole.log(a, b);",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

/** The output of its program, and the modules for which it used compiled code. */
function run(folder: string): { said: string; accepted: string[] } {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: path.join(folder, '.cache/node'),
    NODE_COMPILE_CACHE_PORTABLE: '1',
    NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
  };
  const { stdout, stderr } = spawnSync(process.execPath, ['main.ts'], { cwd: folder, env, encoding: 'utf8' });
  const accepted = [...stderr.matchAll(/(\w+\.ts) was accepted/g)].map(([, name = '']) => name);
  return { said: stdout.trim(), accepted: [...new Set(accepted)].toSorted() };
}

test('a version reuses compiled code of another one, except for files that changed', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [one, two] = [writeVersion(path.join(folder.path, 'one'), 'old'), writeVersion(path.join(folder.path, 'two'), 'new')];
  expect(run(one)).toEqual({ said: 'a old', accepted: [] });
  const [name = ''] = readdirSync(path.join(one, '.cache/node'));
  mkdirSync(path.join(one, '.cache/node/connectors'));
  takeCompiled(one, two, path.join('/elsewhere', name));
  expect(readdirSync(path.join(two, '.cache/node')), 'what connectors can write stays behind').toEqual([name]);
  expect(run(two)).toEqual({ said: 'a new', accepted: ['a.ts', 'main.ts'] });
  expect(run(one), 'the other version keeps its own').toEqual({ said: 'a old', accepted: ['a.ts', 'b.ts', 'main.ts'] });
});

test('takes no compiled code when the other version has none of this Node', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [one, two] = [writeVersion(path.join(folder.path, 'one'), 'a'), writeVersion(path.join(folder.path, 'two'), 'b')];
  run(one);
  takeCompiled(one, two, '/elsewhere/v1.0.0-x64-1');
  expect(statSync(path.join(two, '.cache'), { throwIfNoEntry: false })).toBeUndefined();
});
