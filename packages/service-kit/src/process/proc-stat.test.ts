import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readProcStat } from './proc-stat.ts';

function procWith(pid: number, stat: string): string {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  mkdirSync(path.join(folder.path, String(pid)));
  writeFileSync(path.join(folder.path, String(pid), 'stat'), stat);
  return folder.path;
}

const rest = 'S 12 7 7 0 -1 4194304 100 0 0 0 31 9 0 0 20 0 1 0 777123 1000 200\n';

test.each(['node', 'a b', ') R 99 (', 'x) Z 1 2 3', '', 'ä\n'])('reads the stat of a process with the name %j', async (name) => {
  const proc = procWith(7, `7 (${name}) ${rest}`);
  expect(await readProcStat(7, proc)).toEqual({ state: 'S', parent: 12, cpuTicks: 40, startedAt: '777123' });
});

test('rejects for a process that does not exist', async () => {
  await expect(readProcStat(8, procWith(7, ''))).rejects.toThrow('ENOENT');
});
