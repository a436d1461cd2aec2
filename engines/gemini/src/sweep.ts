import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { endMarkedProcesses } from '@svc/service-kit/process/marked-processes.ts';
import { knownHome, sessionsDir, sideDir, tidyHome } from './session-home.ts';

/** What a service that was killed left behind: commands of its turns, the homes of side calls, and in those of sessions the secrets of tool servers. */
export async function sweep(stateDir: string): Promise<void> {
  const sessions = sessionsDir(stateDir);
  await endMarkedProcesses('GEMINI_CLI_HOME', (value) => value.startsWith(`${sessions}${path.sep}`));
  await rm(sideDir(stateDir), { recursive: true, force: true });
  for (const id of await readdir(sessions)) {
    const home = knownHome(stateDir, id);
    if (home !== null) await tidyHome(home, { isKept: true });
  }
}
