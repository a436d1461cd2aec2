import { constants, lstatSync, statSync } from 'node:fs';
import { access, mkdtemp, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { namesIn } from '@svc/service-kit/files.ts';
import { freeSpace } from '@svc/service-kit/free-space.ts';
import { inUnits } from '@svc/service-kit/words.ts';
import { isForeign } from './examine-files.ts';
import { fine, note, problem, skipped, type Finding } from './finding.ts';
import { quoted } from '../terminal.ts';

const lowBytes = 500 * 1024 * 1024;
const emptyBytes = 50 * 1024 * 1024;
const elsewhere = 'set SVC_DATA_DIR in .env to a folder that this user can write';

/** The data folder: exists or can be created, is writable and private, has free space. Takes no time. */
export async function examineDataDir(dataDir: string): Promise<Finding[]> {
  const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return found.code === 'ENOENT' ? [await possible(dataDir)] : [unusable(dataDir, found)];
  if (!found.isDirectory()) return [problem('data', `${dataDir} is not a folder`, elsewhere)];
  const fault = await writeFault(dataDir);
  if (fault !== null) return [unusable(dataDir, fault)];
  if (isForeign(found.uid))
    return [problem('data', `${dataDir} belongs to another user`, `sudo chown -R "$(id -un)" ${quoted(dataDir)}`)];
  const inside = [...examineOwners(dataDir), ...examineSubfolders(dataDir)];
  return [fine('data', dataDir), privacy(dataDir, found.mode), await space(dataDir), ...inside];
}

/** Files of another user: one command under sudo is enough to leave some, and SQLite says only that it cannot open them. */
function examineOwners(dataDir: string): Finding[] {
  const names = namesIn(dataDir).filter((name) => {
    const found = lstatSync(path.join(dataDir, name), { throwIfNoEntry: false });
    return found?.isFile() === true && isForeign(found.uid);
  });
  if (names.length === 0) return [];
  const listed = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
  return [
    problem(
      'data',
      `${dataDir} has files of another user, as sudo leaves them: ${listed}`,
      `sudo chown -R "$(id -un)" ${quoted(dataDir)}`,
    ),
  ];
}

/** A subfolder of another user, or a file in its place, stops only the part of the service that uses it. */
function examineSubfolders(dataDir: string): Finding[] {
  const { run, logs, spool, instances, uploads, engines, backups } = dataPaths(dataDir);
  return [run, logs, spool, instances, uploads, engines, backups].flatMap((folder) => {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (!found.isDirectory())
      return [problem('data', `${folder} is not a folder`, `mv ${quoted(folder)} ${quoted(`${folder}.old`)}`)];
    const isOurs = !isForeign(found.uid) && (found.mode & 0o700) === 0o700;
    return isOurs ? [] : [problem('data', `this user cannot write ${folder}`, chownCommand(folder))];
  });
}

const chownCommand = (folder: string): string => `sudo chown -R "$(id -un)" ${quoted(folder)} && chmod 700 ${quoted(folder)}`;

/** Whether the first start can create the folder. */
async function possible(dataDir: string): Promise<Finding> {
  let parent = path.dirname(dataDir);
  while ((await stat(parent).catch(() => null)) === null && parent !== path.dirname(parent)) parent = path.dirname(parent);
  const fault = await makeFault(parent);
  return fault === null
    ? skipped('data', `${dataDir} is created by the first ./svc up`)
    : problem('data', `${dataDir} cannot be created: ${reasonOf(fault)}`, elsewhere);
}

/** Tried, because some file systems refuse folders whatever their permissions say. */
const makeFault = (parent: string): Promise<NodeJS.ErrnoException | null> =>
  mkdtemp(path.join(parent, '.svc-'))
    .then(rmdir)
    .then(
      () => null,
      (error: NodeJS.ErrnoException) => error,
    );

const writeFault = (folder: string): Promise<NodeJS.ErrnoException | null> =>
  access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  );

function unusable(dataDir: string, fault: NodeJS.ErrnoException): Finding {
  const fix = fault.code === 'EACCES' ? `sudo chown -R "$(id -un)" ${quoted(dataDir)}` : elsewhere;
  return problem('data', `${dataDir} cannot be used: ${reasonOf(fault)}`, fix);
}

/** The middle of `EROFS: read-only file system, access '/x'`. */
const reasonOf = ({ message }: Error): string => message.replace(/^\w+: /, '').replace(/, \w+ '.*$/s, '');

/** No other user gets past the folder itself, so its content need not be checked. */
function privacy(dataDir: string, mode: number): Finding {
  if ((mode & 0o077) === 0) return fine('privacy', 'only this user can read the data');
  return problem('privacy', `others on this machine can reach ${dataDir}`, `chmod 700 ${quoted(dataDir)}`);
}

async function space(dataDir: string): Promise<Finding> {
  const bytes = await freeSpace(dataDir);
  const text = `${inUnits(bytes)} free`;
  if (bytes < emptyBytes) return problem('disk', text, `free some space on the disk of ${dataDir}`);
  return bytes < lowBytes ? note('disk', `only ${text}`) : fine('disk', text);
}
