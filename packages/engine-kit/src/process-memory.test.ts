import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { treeMemory } from './process-memory.ts';
import { signalGroupOf } from '@svc/service-kit/process/signal-process.ts';

const mb = 1024 * 1024;

test('treeMemory() includes the descendants of a process', async () => {
  const hold = 'const held = Buffer.alloc(64e6, 1); console.log("up"); setInterval(() => held, 1000)';
  const parent = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(hold)}], { stdio: 'inherit' });`;
  const child = spawn(process.execPath, ['-e', parent], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void signalGroupOf(child.pid, 'SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const memory = await treeMemory(child.pid ?? 0);
  expect(memory).toBeGreaterThan(64 * mb + 30 * mb);
  expect(memory).toBeLessThan(1000 * mb);
});

test('treeMemory() is null for a process that does not exist', async () => {
  expect(await treeMemory(2 ** 30)).toBeNull();
});
