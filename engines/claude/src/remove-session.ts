import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { ifThere } from '@svc/service-kit/files.ts';
import { foldersIn } from './config-dir.ts';

/** Subfolders of the program's own folder that contain files or folders of a session. */
const kinds = ['file-history', 'session-env', 'tasks', 'todos', 'debug', 'image-cache'];

/**
 * Removes what the program stores of a session in its folder `dir`; all these names begin with the session's id. This includes its history
 * in each working folder in which it was opened, the output of its tools and sub-agents, and related files. Other sessions are kept.
 */
export async function removeSession(dir: string, sessionId: string): Promise<void> {
  const beside = (await foldersIn(dir)).filter((folder) => kinds.includes(path.basename(folder)));
  for (const folder of [...(await foldersIn(path.join(dir, 'projects'))), ...beside]) await removeNamed(folder, sessionId);
}

/** Removes the temporary files of a session, which are in a folder for each user, and in it for each working folder. */
export async function removeTemporary(dir: string, sessionId: string): Promise<void> {
  const users = (await foldersIn(dir)).filter((folder) => path.basename(folder).startsWith('claude-'));
  for (const user of users) for (const folder of await foldersIn(user)) await removeNamed(folder, sessionId);
}

async function removeNamed(folder: string, sessionId: string): Promise<void> {
  const own = (await ifThere(readdir(folder), [])).filter((name) => name.startsWith(sessionId));
  for (const name of own) await rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 3 });
}
