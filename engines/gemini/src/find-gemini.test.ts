import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { acceptGemini } from './find-gemini.ts';

let folder: TemporaryFolder;
let dir: string;
let packageDir: string;
beforeEach(() => {
  folder = temporaryFolder();
  dir = folder.path;
  packageDir = path.join(dir, 'node_modules/@google/gemini-cli');
  mkdirSync(path.join(packageDir, 'bundle'), { recursive: true });
  writeFileSync(path.join(packageDir, 'bundle/gemini.js'), '');
  const manifest = { name: '@google/gemini-cli', version: '1.2.3', bin: { gemini: 'bundle/gemini.js' } };
  writeFileSync(path.join(packageDir, 'package.json'), JSON.stringify(manifest));
  symlinkSync(path.join(packageDir, 'bundle/gemini.js'), path.join(dir, 'gemini'));
});
afterEach(() => folder.remove());

test.each([
  ['an install folder', ''],
  ["the vendor's package", 'node_modules/@google/gemini-cli'],
  ['the program on PATH', 'gemini'],
])('finds the script from %s', (_name, place) => {
  const found = acceptGemini(path.join(dir, place));
  expect(found).toEqual({ script: path.join(packageDir, 'bundle/gemini.js'), packageDir, version: '1.2.3' });
});

test('rejects anything else and an incomplete package, with the reason', () => {
  expect(acceptGemini(os.tmpdir())).toBe('it has no @google/gemini-cli');
  rmSync(path.join(packageDir, 'bundle'), { recursive: true });
  expect(acceptGemini(dir)).toContain('is missing');
});
