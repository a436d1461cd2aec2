import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPidFile } from '../src/pid-file.ts';

let file = '';
const spawned: ChildProcess[] = [];
beforeEach(() => {
  file = path.join(mkdtempSync(path.join(tmpdir(), 'svc-register-')), 'children.json');
});
afterEach(() => {
  for (const child of spawned.splice(0)) child.kill('SIGKILL');
  rmSync(path.dirname(file), { recursive: true, force: true });
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

describe('the register of children', () => {
  it('ends by force what an earlier parent left and what does not end by itself', async () => {
    const hung = await sleeper(60_000);
    createPidFile(file).note('hung', hung.pid);
    expect(await createPidFile(file).reap(100)).toEqual(['hung']);
    expect((await hung.ended)[1]).toBe('SIGKILL');
  });

  it('lets go what ends within the grace', async () => {
    const quick = await sleeper(150);
    createPidFile(file).note('quick', quick.pid);
    expect(await createPidFile(file).reap(5000)).toEqual([]);
    expect((await quick.ended)[0]).toBe(0);
  });

  it('never touches a process that only has the same pid', async () => {
    const other = await sleeper(60_000);
    createPidFile(file).note('old', other.pid);
    const entries = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { born: string }>;
    entries['old']!.born += '0';
    writeFileSync(file, JSON.stringify(entries));
    expect(await createPidFile(file).reap(0)).toEqual([]);
    expect(() => process.kill(other.pid, 0)).not.toThrow();
  });

  it('forgets who has ended', async () => {
    const gone = await sleeper(60_000);
    const register = createPidFile(file);
    register.note('gone', gone.pid);
    register.note('gone', null);
    expect(await createPidFile(file).reap(0)).toEqual([]);
  });

  it.each(['null', '[]', '{"a":null,"b":{"pid":1},"c":{"pid":0,"born":"x"},"d":7}'])(
    'names nobody where the file holds %s',
    async (content) => {
      writeFileSync(file, content);
      expect(await createPidFile(file).reap(100)).toEqual([]);
    },
  );
});
