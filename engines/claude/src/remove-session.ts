import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Folders of the program's own folder in which a session has a file or folder of its own, whose name begins with the session's id. */
const kinds = ['file-history', 'session-env', 'tasks', 'todos', 'debug', 'image-cache'];

/**
 * Removes what the program keeps of a session in `configDir`: its history in each working folder that it was opened in, with what its tools
 * and sub-agents wrote, and what it keeps beside it. Sessions of other programs are not touched.
 */
export async function removeSession(configDir: string, sessionId: string): Promise<void> {
  const projects = path.join(configDir, 'projects');
  const folders = [
    ...(await namesIn(projects)).map((folder) => path.join(projects, folder)),
    ...kinds.map((kind) => path.join(configDir, kind)),
  ];
  for (const folder of folders) {
    const own = (await namesIn(folder)).filter((name) => name.startsWith(sessionId));
    for (const name of own) await rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** None where there is no such folder, or where it is a file. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
