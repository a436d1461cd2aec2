import { expect, test } from 'vitest';
import { programEnv, runProgram } from './run-program.ts';

const limits = { env: programEnv(), timeoutMs: 20_000, maxBytes: 1024 };

test('a program is not waited for longer than it runs, though another one has its output open', async () => {
  const began = performance.now();
  // The one that stays behind ends by itself, after the test.
  const { code, stdout } = await runProgram('sh', ['-c', 'echo said; sleep 25 & exit 3'], limits);
  expect([code, stdout]).toEqual([3, 'said\n']);
  expect(performance.now() - began).toBeLessThan(20_000);
});
