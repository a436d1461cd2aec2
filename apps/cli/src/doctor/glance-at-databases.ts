import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { problem, type Finding } from './finding.ts';

/** A check of the first bytes: finds a file that is not a database, or is truncated. Takes no time; the doctor reads the whole files. */
export async function glanceAtDatabases(dataDir: string): Promise<Finding[]> {
  const { coreDb, managerDb, collectorDb, searchDb, vaultDb, loginDb } = dataPaths(dataDir);
  const faults = [coreDb, managerDb, collectorDb, searchDb, vaultDb, loginDb].flatMap((file) => {
    const fault = headerFault(file);
    return fault === null ? [] : [{ file, fault }];
  });
  if (faults.length === 0) return [];
  const { damagedFix } = await import('./database-fixes.ts');
  return faults.map(({ file, fault }) => problem('database', `${file} is damaged: ${fault}`, damagedFix(dataDir, file)));
}

const magic = 'SQLite format 3\0';

/** Null when the header is sound, and for an empty or missing file. */
function headerFault(file: string): string | null {
  const header = Buffer.alloc(100);
  let size = 0;
  try {
    const fd = openSync(file, 'r');
    try {
      size = fstatSync(fd).size;
      readSync(fd, header);
    } finally {
      closeSync(fd);
    }
  } catch {
    return null; // not there, or not to be read, which others say
  }
  if (size === 0) return null;
  if (header.toString('latin1', 0, 16) !== magic) return 'file is not a database';
  const page = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  return size < page ? 'the file is truncated' : null;
}
