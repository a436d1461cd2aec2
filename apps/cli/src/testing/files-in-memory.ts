import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

/** Where the files of tests lie. */
export type TestFiles = { path: string; remove(): void };

/** Some times what was seen to be there at once, since what is in memory is missing to the processes. */
const neededBytes = 6 * 2 ** 30;
const nameForm = /^svc-test-files-(\d+)-/;

type Machine = { shared?: string; availableBytes?: number; pid?: number };

/**
 * A folder in memory, where Linux has one and there is room: tests make and remove files by the hundred thousand, which on a disk is a
 * quarter of the time of some. Null elsewhere, and where somebody has set `TMPDIR`. What tests that were ended by force have left is removed.
 */
export function filesInMemory(
  env: Readonly<Record<string, string | undefined>>,
  { shared = '/dev/shm', availableBytes = process.availableMemory(), pid = process.pid }: Machine = {},
): TestFiles | null {
  if ((env['TMPDIR'] ?? '') !== '' || !existsSync(shared)) return null;
  removeLeft(shared);
  const { bavail, bsize } = statfsSync(shared);
  if (Math.min(bavail * bsize, availableBytes) < neededBytes) return null;
  const folder = mkdtempSync(path.join(shared, `svc-test-files-${pid}-`));
  // Servers that give up their rights go through it to their files, as through any folder for temporary files.
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
