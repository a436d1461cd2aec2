import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const program = path.join(import.meta.dirname, 'program.mjs');

/** Installs the misbehaving program in `dir`, as the vendor's would be; returns the path to set for the engine. */
export function installHostileEngine(id: 'claude' | 'codex' | 'gemini', dir: string): string {
  const folder = path.join(dir, `hostile-${id}`);
  mkdirSync(folder, { recursive: true });
  if (id !== 'gemini') return copyProgram(path.join(folder, `${id}.mjs`));
  const manifest = { name: '@google/gemini-cli', version: '1.0.0', bin: { gemini: 'gemini.mjs' } };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  copyProgram(path.join(folder, 'gemini.mjs'));
  return folder;
}

function copyProgram(file: string): string {
  copyFileSync(program, file);
  chmodSync(file, 0o755);
  return file;
}

/** Where claude's SDK is looked for that drives a program which stands alone. */
export function linkSdk(enginesDir: string, install: string): void {
  mkdirSync(path.join(enginesDir, 'claude'), { recursive: true });
  symlinkSync(install, path.join(enginesDir, 'claude/current'));
}
