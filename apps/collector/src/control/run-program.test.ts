import { expect, test } from 'vitest';
import { programEnv, runProgram } from './run-program.ts';

const limits = { env: programEnv(), timeoutMs: 20_000, maxBytes: 1024 };

test('returns when the program exits, even if a background process keeps its output open', async () => {
  const began = performance.now();
  // The background process ends by itself, after the test.
  const { code, stdout } = await runProgram('sh', ['-c', 'echo said; sleep 25 & exit 3'], limits);
  expect([code, stdout]).toEqual([3, 'said\n']);
  expect(performance.now() - began).toBeLessThan(20_000);
});
