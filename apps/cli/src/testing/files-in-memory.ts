import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { enginesFolder } from './missing-programs.ts';

/** Where the files of tests lie. */
export type TestFiles = { path: string; remove(): void };

/** Five times what a whole run was seen to use: memory that files take is not there for the processes. */
const neededBytes = 6 * 2 ** 30;
const nameForm = /^svc-test-files-(\d+)-/;

type Machine = { shared?: string; availableBytes?: number };

/**
 * A folder in memory, where Linux has one and there is room: tests make and remove files by the hundred thousand, which on a disk takes a
 * third of the CPU of some. Null elsewhere, where a user has set `TMPDIR`, and where real engines are installed: the sandbox of one gives
 * its commands a /dev of their own, without what lies in ours. What a run that was ended by force has left is removed.
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
  // Mail servers run as users of their own, who have to reach their files in it.
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

/** Some machines run no program from memory (`noexec`), and tests write programs. */
function runsPrograms(folder: string): boolean {
  const program = path.join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\nexit 0\n');
  chmodSync(program, 0o700);
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}
