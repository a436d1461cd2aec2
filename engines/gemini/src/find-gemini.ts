import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { pin } from './pin.ts';

/** The script to start with Node, and its version. */
export type GeminiInstall = { script: string; packageDir: string; version: string };

/** What is usable at a candidate: an install folder, the vendor's package, or the program inside it. */
export function acceptGemini(candidate: string): GeminiInstall | string {
  const real = realpathSync(candidate);
  const folders = statSync(real).isDirectory() ? [real, path.join(real, 'node_modules', pin.package)] : ancestors(real);
  const packageDir = folders.find((folder) => manifest(folder)?.name === pin.package);
  if (packageDir === undefined) return `it has no ${pin.package}`;
  const { bin, version } = manifest(packageDir) ?? {};
  const script = path.join(packageDir, bin?.gemini ?? 'bundle/gemini.js');
  return existsSync(script) ? { script, packageDir, version: version ?? 'unknown' } : `its program ${script} is missing`;
}

type Manifest = { name?: string; version?: string; bin?: Record<string, string> };

function manifest(dir: string): Manifest | null {
  const file = path.join(dir, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : null;
}

/** The folder of the program and its parent. */
const ancestors = (file: string) => [path.dirname(file), path.resolve(file, '../..')];
