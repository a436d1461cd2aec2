import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { ifThere } from '@svc/service-kit/files.ts';
import { foldersIn } from './config-dir.ts';

/** Folders of the program's own folder in which a session has files or folders of its own. */
const kinds = ['file-history', 'session-env', 'tasks', 'todos', 'debug', 'image-cache'];

/**
 * Removes what the program keeps of a session in its folder `dir`, all of which has a name that begins with the session's id: its history in
 * each working folder that it was opened in, with what its tools and sub-agents wrote, and what lies beside it. Other sessions stay.
 */
export async function removeSession(dir: string, sessionId: string): Promise<void> {
  const beside = (await foldersIn(dir)).filter((folder) => kinds.includes(path.basename(folder)));
  for (const folder of [...(await foldersIn(path.join(dir, 'projects'))), ...beside]) {
    const own = (await ifThere(readdir(folder), [])).filter((name) => name.startsWith(sessionId));
    for (const name of own) await rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
