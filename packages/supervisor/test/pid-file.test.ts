import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createPidFile } from '../src/pid-file.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

let folder: TemporaryFolder;
let file = '';
const spawned: ChildProcess[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  file = path.join(folder.path, 'children.json');
});
afterEach(() => {
  for (const child of spawned.splice(0)) child.kill('SIGKILL');
  folder.remove();
});

async function sleeper(ms: number) {
  const child = spawn(process.execPath, ['-e', `setTimeout(() => {}, ${ms}); console.log('up')`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  spawned.push(child);
  await once(child.stdout, 'data');
  return { pid: child.pid!, ended: once(child, 'exit') };
}

describe('pid file', () => {
  test('kills a process of an earlier parent that does not exit within the grace period', async () => {
    const hung = await sleeper(60_000);
    createPidFile(file).note('hung', hung.pid);
    expect(await createPidFile(file).reap(100)).toEqual(['hung']);
    expect((await hung.ended)[1]).toBe('SIGKILL');
  });

  test('does not kill a process that exits within the grace period', async () => {
    const quick = await sleeper(150);
    createPidFile(file).note('quick', quick.pid);
    expect(await createPidFile(file).reap(5000)).toEqual([]);
    expect((await quick.ended)[0]).toBe(0);
  });

  test('never signals another process with the same pid', async () => {
    const other = await sleeper(60_000);
    createPidFile(file).note('old', other.pid);
    const entries = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { born: string }>;
    entries['old']!.born += '0';
    writeFileSync(file, JSON.stringify(entries));
    expect(await createPidFile(file).reap(0)).toEqual([]);
    expect(() => signalProcess(other.pid, 0)).not.toThrow();
  });

  test('forgets a process that has ended', async () => {
    const gone = await sleeper(60_000);
    const register = createPidFile(file);
    register.note('gone', gone.pid);
    register.note('gone', null);
    expect(await createPidFile(file).reap(0)).toEqual([]);
  });

  test.each(['null', '[]', '{"a":null,"b":{"pid":1},"c":{"pid":0,"born":"x"},"d":7}'])(
    'reaps nothing from a file with %s',
    async (content) => {
      writeFileSync(file, content);
      expect(await createPidFile(file).reap(100)).toEqual([]);
    },
  );
});
