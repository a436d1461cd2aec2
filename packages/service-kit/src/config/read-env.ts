import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { SettingsError } from './settings-error.ts';

export type Env = Record<string, string | undefined>;

/** The environment over the `.env` file at the root; a variable set to the empty string counts as set. */
export function readEnv(root: string, env: Env = process.env): Env {
  let text: string;
  try {
    text = readFileSync(path.join(root, '.env'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ...env };
    throw new SettingsError([`.env at ${root} cannot be read: ${(error as Error).message}`]);
  }
  // What some editors put in front would be taken for a part of the first name.
  return { ...parseEnv(text.replace(/^\uFEFF/, '')), ...env };
}
