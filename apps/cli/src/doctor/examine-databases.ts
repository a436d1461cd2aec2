import { accessSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { checkDatabases, type CheckedDatabase } from '@svc/store/check-database.ts';
import type { StartedReader } from '@svc/store/database-reader.ts';
import { findSetAside } from '@svc/store/set-aside.ts';
import { fine, note, problem, type Finding } from './finding.ts';
import { readWithinMs } from './start-reader.ts';

/** A write-ahead log that is being written can look damaged for a moment; a damaged one still does later. */
const looks = 3;

/** A read error says nothing about the content of the file. */
const lookAgain = 'check that it is a file, that you can read it and that memory is free; then ./svc doctor';

/** Reads every database to its end, whether the service runs or not, and looks for changes that were set aside. `reader` reads the small ones. */
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

/** When the file cannot be used, the finding about the data folder says why. */
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

// Code that only a damaged database needs is loaded only then: loading it takes longer than checking a sound one.

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
