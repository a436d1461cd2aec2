import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ClaudeSdk } from './claude-messages.ts';

/** Loads the SDK from where it was found. It is no dependency of ours: only who uses this engine has it. */
export async function loadSdk(sdkDir: string): Promise<ClaudeSdk> {
  const entry = createRequire(path.join(sdkDir, 'package.json')).resolve(sdkDir);
  return (await import(pathToFileURL(entry).href)) as ClaudeSdk;
}
