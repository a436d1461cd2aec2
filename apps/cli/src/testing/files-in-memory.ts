import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { enginesFolder } from './missing-programs.ts';

/** The folder for the files of tests. */
export type TestFiles = { path: string; remove(): void };

/** Five times the measured use of a whole run: memory taken by files is missing for processes. */
const neededBytes = 6 * 2 ** 30;
const nameForm = /^svc-test-files-(\d+)-/;

type Machine = { shared?: string; availableBytes?: number };

/**
 * A folder in memory, if Linux has one with enough room: tests create and remove hundreds of thousands of files, which on a disk takes a
 * third of the CPU time of some. Null elsewhere, when a user has set `TMPDIR`, and when real engines are installed: the sandbox of one gives
 * its commands their own /dev, without our files. Files of an earlier run that was killed are removed.
 */
export function filesInMemory(
  env: Readonly<Record<string, string | undefined>>,
  { shared = '/dev/shm', availableBytes = process.availableMemory() }: Machine = {},
): TestFiles | null {
  if ((env['TMPDIR'] ?? '') !== '' || !existsSync(shared)) return null;
  removeLeft(shared);
  if (existsSync(enginesFolder(env))) return null;
  const { bavail, bsize } = statfsSync(shared);
  if (Math.min(bavail * bsize, availableBytes) < neededBytes) return null;
  const folder = mkdtempSync(path.join(shared, `svc-test-files-${process.pid}-`));
  // Mail servers run as other users, which must reach their files in it.
  chmodSync(folder, 0o711);
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (runsPrograms(folder)) return { path: folder, remove };
  remove();
  return null;
}

function removeLeft(shared: string): void {
  for (const name of readdirSync(shared)) {
    const pid = Number(nameForm.exec(name)?.[1]);
    const folder = path.join(shared, name);
    const isOurs = () => lstatSync(folder).uid === process.getuid?.();
    if (pid > 1 && !isAlive(pid) && isOurs()) rmSync(folder, { recursive: true, force: true });
  }
}

/** Some machines mount memory as `noexec`, and tests write programs. */
function runsPrograms(folder: string): boolean {
  const program = path.join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\nexit 0\n');
  chmodSync(program, 0o700);
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}
