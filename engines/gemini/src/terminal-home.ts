import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { restoreText } from './plain-text.ts';
import { homeAt, knownHome, moveProject, sessionsDir, type SessionHome, terminalDir } from './session-home.ts';

/**
 * Settings of the program for a person: how it is paid for, and that it keeps the session and its version. The person sets everything else.
 */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, sessionRetention: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

/** `dir`: the home under a separate name, which distinguishes this program from leftovers of turns. */
export type TerminalHome = { id: string; dir: string; isNew: boolean };

/** Prepares the home of a session for a person who works in it; null when there is no such session. */
export async function openTerminalHome(stateDir: string, resume: string | null, cwd: string): Promise<TerminalHome | null> {
  const home = resume === null ? homeAt(sessionsDir(stateDir), randomUUID(), true) : knownHome(stateDir, resume);
  if (home === null) return null;
  await mkdir(path.join(home.dir, '.gemini'), { recursive: true, mode: 0o700 });
  await writeFile(path.join(home.dir, '.gemini/settings.json'), JSON.stringify(settings, null, 2), { mode: 0o600 });
  await moveProject(home, cwd);
  await restoreChats(home);
  const dir = terminalDir(stateDir, home.dir);
  await mkdir(path.dirname(dir), { recursive: true, mode: 0o700 });
  await symlink(home.dir, dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return { id: home.id, dir, isNew: home.isNew };
}

/**
 * Turns hide their text from the program, and the relay restores it for the model. This program has no relay, so the text is restored here.
 */
async function restoreChats({ dir }: SessionHome): Promise<void> {
  const projects = path.join(dir, '.gemini/tmp');
  for (const project of await readdir(projects).catch(() => [])) {
    const chats = path.join(projects, project, 'chats');
    for (const name of await readdir(chats).catch(() => [])) {
      const file = path.join(chats, name);
      const written = await readFile(file);
      const restored = restoreText(written);
      if (restored === written) continue;
      await writeFile(`${file}.new`, restored, { mode: 0o600 });
      await rename(`${file}.new`, file);
    }
  }
}
