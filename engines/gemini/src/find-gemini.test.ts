import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acceptGemini } from './find-gemini.ts';

let dir: string;
let packageDir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'find-gemini-'));
  packageDir = path.join(dir, 'node_modules/@google/gemini-cli');
  mkdirSync(path.join(packageDir, 'bundle'), { recursive: true });
  writeFileSync(path.join(packageDir, 'bundle/gemini.js'), '');
  const manifest = { name: '@google/gemini-cli', version: '1.2.3', bin: { gemini: 'bundle/gemini.js' } };
  writeFileSync(path.join(packageDir, 'package.json'), JSON.stringify(manifest));
  symlinkSync(path.join(packageDir, 'bundle/gemini.js'), path.join(dir, 'gemini'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test.each([
  ['an install folder', ''],
  ["the vendor's package", 'node_modules/@google/gemini-cli'],
  ['the program on PATH', 'gemini'],
])('%s leads to the script', (_name, place) => {
  const found = acceptGemini(path.join(dir, place));
  expect(found).toEqual({ script: path.join(packageDir, 'bundle/gemini.js'), packageDir, version: '1.2.3' });
});

test('what is something else, or not whole, is told', () => {
  expect(acceptGemini(os.tmpdir())).toBe('no @google/gemini-cli in it');
  rmSync(path.join(packageDir, 'bundle'), { recursive: true });
  expect(acceptGemini(dir)).toContain('is missing');
});
