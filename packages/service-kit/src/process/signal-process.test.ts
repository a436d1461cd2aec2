import { expect, test, vi } from 'vitest';
import { isAlive, signalGroupOf, signalProcess } from './signal-process.ts';

const noProcess = [0, 1, -1, -5, Number.NaN, 2.5, Infinity, undefined, null, '7' as unknown as number, -0];

test.each(noProcess)('signals no process for the pid %s, and reports it as not alive', (pid) => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  expect(() => signalProcess(pid, 'SIGKILL')).toThrow(RangeError);
  expect(() => signalGroupOf(pid, 'SIGKILL')).toThrow(RangeError);
  if (typeof pid !== 'string') expect(isAlive(pid)).toBe(false);
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});

test('signalGroupOf() signals the negative pid', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  signalGroupOf(42, 'SIGTERM');
  signalProcess(42, 'SIGINT');
  expect(kill.mock.calls).toEqual([
    [-42, 'SIGTERM'],
    [42, 'SIGINT'],
  ]);
  kill.mockRestore();
});

test('isAlive() is true for this process, and false for one that does not exist', () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(2 ** 30)).toBe(false);
});
