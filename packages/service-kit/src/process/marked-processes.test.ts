import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { testUnless, whyNotLinux } from '@svc/testing/skip-note.ts';
import { endMarkedProcesses } from './marked-processes.ts';
import { childGone } from './process-group.ts';

function start(mark: string) {
  const child = spawn(process.execPath, ['-e', "setInterval(() => {}, 1000); console.log('up')"], {
    env: { PATH: process.env.PATH, TEST_MARK: mark },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, up: new Promise((resolve) => child.stdout.once('data', resolve)) };
}

testUnless(whyNotLinux())('ends a process by a variable of its environment, and no other', async () => {
  const mark = randomUUID();
  const [marked, other] = [start(mark), start('other')];
  await Promise.all([marked.up, other.up]);
  await endMarkedProcesses('TEST_MARK', (value) => value === mark);
  await childGone(marked.child);
  expect(marked.child.signalCode).toBe('SIGKILL');
  expect(other.child.exitCode ?? other.child.signalCode).toBeNull();
});
