import { accessSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { checkDatabases, type CheckedDatabase } from '@svc/store/check-database.ts';
import { isLogDamaged, readLog } from '@svc/store/check-log.ts';
import type { StartedReader } from '@svc/store/database-reader.ts';
import { findSetAside } from '@svc/store/set-aside.ts';
import { fine, note, problem, type Finding } from './finding.ts';
import { quoted } from '../terminal.ts';
import { readWithinMs } from './start-reader.ts';

/** A log that is written just now can look torn; a damaged one still does a moment later. */
const looks = 3;

/** Not being read says nothing about what is in the file. */
const lookAgain = 'see that it is a file, that you may read it and that memory is free; then ./svc doctor';

/** What to do about a damaged database, by its file. */
type Database = { file: string; fix: string };

/** Reads every database to its end, whether the service runs or not, and looks for what was set aside before. `reader` reads the small ones. */
export async function examineDatabases(dataDir: string, reader: StartedReader): Promise<Finding[]> {
  if (!isFolder(dataDir)) {
    reader.end();
    return [];
  }
  const databases = databasesOf(dataDir).filter(({ file }) => existsSync(file));
  const checked = await checkDatabases(
    databases.map(({ file }) => file),
    { timeoutMs: readWithinMs },
    reader,
  );
  const found = databases.map((database, at) => judgeDatabase(database, checked[at] ?? 'unfinished'));
  return [...(await Promise.all(found)), ...setAside(dataDir)];
}

/** Of one that cannot be used the data folder's own finding says why. */
function isFolder(dataDir: string): boolean {
  try {
    accessSync(dataDir, constants.R_OK | constants.X_OK);
    return statSync(dataDir).isDirectory();
  } catch {
    return false;
  }
}

/** Every database of a data folder, with what to do when it is damaged. */
export function databasesOf(dataDir: string): Database[] {
  const { coreDb, managerDb, collectorDb, searchDb, vaultDb } = dataPaths(dataDir);
  const restore = restoreAdvice(dataDir);
  return [
    ...[coreDb, managerDb, collectorDb].map((file) => ({
      file,
      fix: `${restore}; or, to begin without it, stop the service, then ${moveAway(file)}`,
    })),
    { file: searchDb, fix: `stop the service, then ${moveAway(searchDb)}; it is made again from collector.db` },
    { file: vaultDb, fix: `${restore}, with --secrets` },
  ];
}

/** With all that lies beside it: a log that stays would be taken for that of the next database of this name. */
function moveAway(file: string): string {
  const folder = path.join(path.dirname(file), 'broken');
  return `mkdir -p ${quoted(folder)} && mv ${quoted(file)}* ${quoted(folder)}`;
}

async function judgeDatabase({ file, fix }: Database, checked: CheckedDatabase): Promise<Finding> {
  const name = path.basename(file);
  if (checked === 'unfinished') return note('database', `${name} is too large to be read within ${readWithinMs / 1000} s`);
  if (checked.isDamaged) return problem('database', `${file} is damaged: ${checked.fault}`, fix);
  if (checked.fault !== null) return problem('database', `${file} cannot be read: ${checked.fault}`, lookAgain);
  if (checked.isLogTorn && (await isLogLastinglyDamaged(file)))
    return problem('database', `${file}-wal is damaged: changes in it are lost`, fix);
  return fine('database', `${name} is whole`);
}

async function isLogLastinglyDamaged(file: string): Promise<boolean> {
  for (let look = 0; look < looks; look++) {
    if (!isLogDamaged(readLog(file))) return false;
    await sleep(100);
  }
  return true;
}

const setAside = (dataDir: string): Finding[] =>
  findSetAside(dataDir).map((name) =>
    problem(
      'database',
      `${name} holds changes that could not be applied`,
      `${restoreAdvice(dataDir)}; or when nothing is missing: rm ${quoted(path.join(dataDir, name))}`,
    ),
  );
