import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isProgram } from '@svc/engine-kit/engine-path.ts';

/** The native program, and the folder of the files that it needs (sandbox helper, search tool). */
export type CodexProgram = { program: string; packageDir: string };

/**
 * What can be started at a candidate: an install folder, the vendor's package, the npm launcher, or the program itself. The native program
 * is started without the launcher, which saves a Node process each time.
 */
export function acceptCodex(candidate: string): CodexProgram | string {
  const real = realpathSync(candidate);
  const folders = statSync(real).isDirectory() ? [real, path.join(real, 'node_modules/@openai/codex')] : ancestors(real);
  for (const folder of folders) {
    const program = nativeProgramNear(folder);
    if (program) return { program, packageDir: packageDirOf(program) };
  }
  if (statSync(real).isDirectory()) return `no ${platformPackage()} in it (was it installed with --omit=optional?)`;
  return isProgram(real) ? { program: real, packageDir: path.dirname(real) } : 'not a program';
}

/** npm puts the platform's package next to the main one, or inside it. */
function nativeProgramNear(folder: string): string | null {
  const places = [
    path.join(folder, 'vendor'),
    path.join(folder, 'node_modules/@openai', platformPackage(), 'vendor'),
    path.join(folder, '..', platformPackage(), 'vendor'),
  ];
  for (const vendor of places.filter((place) => existsSync(place))) {
    for (const triple of readdirSync(vendor)) {
      const program = path.join(vendor, triple, 'bin', process.platform === 'win32' ? 'codex.exe' : 'codex');
      if (isProgram(program)) return program;
    }
  }
  return null;
}

const platformPackage = () => `codex-${process.platform}-${process.arch}`;

/** `<package>/vendor/<triple>/bin/codex` → `<package>`. */
const packageDirOf = (program: string) => path.resolve(program, '../../../..');

/** The folder of a file and two above it: enough for a launcher in `bin/` or beside it. */
const ancestors = (file: string) => [path.dirname(file), path.resolve(file, '../..')];
