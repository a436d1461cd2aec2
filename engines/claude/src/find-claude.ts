import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isProgram } from '@svc/engine-kit/engine-path.ts';
import { pin } from './pin.ts';
import type { ClaudeSdk } from './claude-messages.ts';

/** The SDK's folder and the program it drives. */
export type ClaudeInstall = { sdkDir: string; program: string; version: string };

/**
 * What is usable at a candidate: an install folder, the SDK's own folder, or the program, which is driven by an SDK next to it or, failing
 * that, by the one in `installDir`.
 */
export function acceptClaude(candidate: string, installDir: string): ClaudeInstall | string {
  const real = realpathSync(candidate);
  if (!statSync(real).isDirectory()) return acceptProgram(real, installDir);
  const sdkDir = sdkIn(real);
  if (sdkDir === undefined) return `it has no ${pin.package}`;
  const program = programBeside(sdkDir);
  if (program === null) return `the SDK is installed, but its program is missing (was it installed with --omit=optional?)`;
  return { sdkDir, program, version: versionOf(sdkDir) };
}

function acceptProgram(program: string, installDir: string): ClaudeInstall | string {
  if (!isProgram(program)) return 'not a program';
  const beside = path.resolve(program, '../..', path.basename(pin.package));
  const sdkDir = isSdk(beside) ? beside : sdkIn(installDir);
  if (sdkDir === undefined) return `the program is installed, but ${pin.package}, which controls it, is missing`;
  return { sdkDir, program, version: versionOf(sdkDir) };
}

const sdkIn = (dir: string): string | undefined => [dir, path.join(dir, 'node_modules', pin.package)].find(isSdk);

/** npm puts the platform's package next to the SDK, or inside it. */
function programBeside(sdkDir: string): string | null {
  const prefix = `${path.basename(pin.package)}-${process.platform}-${process.arch}`;
  for (const parent of [path.dirname(sdkDir), path.join(sdkDir, 'node_modules/@anthropic-ai')]) {
    if (!existsSync(parent)) continue;
    const packages = readdirSync(parent).filter((name) => name.startsWith(prefix));
    const programs = packages.map((name) => path.join(parent, name, process.platform === 'win32' ? 'claude.exe' : 'claude'));
    const program = programs.find(isProgram);
    if (program !== undefined) return program;
  }
  return null;
}

const isSdk = (dir: string): boolean => existsSync(path.join(dir, 'package.json')) && manifest(dir).name === pin.package;
const versionOf = (dir: string): string => manifest(dir).version ?? 'unknown';
const manifest = (dir: string) =>
  JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8')) as { name?: string; version?: string };

/** Loads the SDK from its location. It is not a dependency: only users of this engine have it. */
export async function loadSdk(sdkDir: string): Promise<ClaudeSdk> {
  const entry = createRequire(path.join(sdkDir, 'package.json')).resolve(sdkDir);
  return (await import(pathToFileURL(entry).href)) as ClaudeSdk;
}
