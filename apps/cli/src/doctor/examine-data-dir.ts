import { constants } from 'node:fs';
import { access, readdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { fine, note, problem, skipped, type Finding } from './finding.ts';

const lowBytes = 500 * 1024 * 1024;
const emptyBytes = 50 * 1024 * 1024;
/** Enough to see what is wrong without walking through every upload. */
const maxListed = 20;

/** The data folder: there, ours alone, writable, with room. */
export async function examineDataDir(dataDir: string): Promise<Finding[]> {
  const found = await stat(dataDir).catch(() => null);
  if (found === null) return [skipped('data', `${dataDir} comes with the first ./svc up`)];
  if (!found.isDirectory())
    return [problem('data', `${dataDir} is not a folder`, `mv ${quoted(dataDir)} ${quoted(`${dataDir}.old`)}`)];
  return [await writable(dataDir), ...(await modes(dataDir)), await space(dataDir)];
}

async function writable(dataDir: string): Promise<Finding> {
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return fine('data', dataDir);
  } catch {
    return problem('data', `${dataDir} cannot be written by this user`, `sudo chown -R "$(id -un)" ${quoted(dataDir)}`);
  }
}

/** Folders 0700, files 0600: two levels, where the databases, keys and logs are. */
async function modes(dataDir: string): Promise<Finding[]> {
  const open: string[] = [];
  const look = async (file: string, depth: number): Promise<void> => {
    const info = await stat(file).catch(() => null);
    if (info === null) return;
    if ((info.mode & 0o077) !== 0) open.push(file);
    if (!info.isDirectory() || depth === 0) return;
    for (const name of await readdir(file).catch(() => [])) await look(path.join(file, name), depth - 1);
  };
  await look(dataDir, 2);
  if (open.length === 0) return [fine('privacy', 'only this user can read the data')];
  const which = `${open.slice(0, 3).join(', ')}${open.length > 3 ? ` and ${Math.min(open.length - 3, maxListed)} more` : ''}`;
  return [problem('privacy', `others on this machine can reach ${which}`, `chmod -R go= ${quoted(dataDir)}`)];
}

async function space(dataDir: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(dataDir);
  const bytes = bavail * bsize;
  const text = `${(bytes / 1024 ** 3).toFixed(1)} GiB free`;
  if (bytes < emptyBytes) return problem('disk', text, `free some space on the disk of ${dataDir}`);
  return bytes < lowBytes ? note('disk', `${text}, which is little`) : fine('disk', text);
}

const quoted = (file: string) => (/^[\w./~-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`);
