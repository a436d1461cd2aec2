import { accessSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { checkDatabases, type CheckedDatabase } from '@svc/store/check-database.ts';
import type { StartedReader } from '@svc/store/database-reader.ts';
import { findSetAside } from '@svc/store/set-aside.ts';
import { fine, note, problem, type Finding } from './finding.ts';
import { readWithinMs } from './start-reader.ts';

/** A log that is written just now can look torn; a damaged one still does a moment later. */
const looks = 3;

/** Not being read says nothing about what is in the file. */
const lookAgain = 'check that it is a file, that you can read it and that memory is free; then ./svc doctor';

/** Reads every database to its end, whether the service runs or not, and looks for what was set aside before. `reader` reads the small ones. */
export async function examineDatabases(dataDir: string, reader: StartedReader): Promise<Finding[]> {
  if (!isFolder(dataDir)) {
    reader.end();
    return [];
  }
  const { coreDb, managerDb, collectorDb, searchDb, vaultDb, loginDb } = dataPaths(dataDir);
  const files = [coreDb, managerDb, collectorDb, searchDb, vaultDb, loginDb].filter((file) => existsSync(file));
  const checked = await checkDatabases(files, { timeoutMs: readWithinMs }, reader);
  const found = files.map((file, at) => judgeDatabase(dataDir, file, checked[at] ?? 'unfinished'));
  return [...(await Promise.all(found)), ...(await setAside(dataDir))];
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

async function judgeDatabase(dataDir: string, file: string, checked: CheckedDatabase): Promise<Finding> {
  const name = path.basename(file);
  if (checked === 'unfinished') return note('database', `${name} is too large to be read within ${readWithinMs / 1000} s`);
  if (checked.isDamaged) return damaged(dataDir, file, `${file} is damaged: ${checked.fault}`);
  if (checked.fault !== null) return problem('database', `${file} cannot be read: ${checked.fault}`, lookAgain);
  if (checked.isLogTorn && (await isLogLastinglyDamaged(file)))
    return damaged(dataDir, file, `${file}-wal is damaged: changes in it are lost`);
  return fine('database', `${name} is whole`);
}

// What only a damaged database needs is loaded for one: it takes longer than to look at a whole one.

async function damaged(dataDir: string, file: string, text: string): Promise<Finding> {
  const { damagedFix } = await import('./database-fixes.ts');
  return problem('database', text, damagedFix(dataDir, file));
}

async function isLogLastinglyDamaged(file: string): Promise<boolean> {
  const { isLogDamaged, readLog } = await import('@svc/store/check-log.ts');
  for (let look = 0; look < looks; look++) {
    if (!isLogDamaged(readLog(file))) return false;
    await sleep(100);
  }
  return true;
}

async function setAside(dataDir: string): Promise<Finding[]> {
  const names = findSetAside(dataDir);
  if (names.length === 0) return [];
  const { setAsideFix } = await import('./database-fixes.ts');
  return names.map((name) => problem('database', `${name} holds changes that could not be applied`, setAsideFix(dataDir, name)));
}
