import { readdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ifThere } from '@svc/service-kit/files.ts';

/** The program's own folder, according to the variables that it reads. */
export const configDir = (env: Readonly<Record<string, string | undefined>>): string =>
  env['CLAUDE_CONFIG_DIR'] ?? path.join(env['HOME'] ?? os.homedir(), '.claude');

/** The folders in a folder, including links to folders; none when it does not exist. */
export async function foldersIn(folder: string): Promise<string[]> {
  const entries = await ifThere(readdir(folder, { withFileTypes: true }), []);
  return entries.filter((entry) => !entry.isFile()).map(({ name }) => path.join(folder, name));
}
