import { expect, test, vi } from 'vitest';
import { whileRestarting } from './while-restarting.ts';

const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

test('a request to a restarting process is retried until it is up', async () => {
  const ask = vi.fn().mockRejectedValueOnce(refused).mockRejectedValueOnce(refused).mockResolvedValue('hello');
  expect(await whileRestarting(ask, () => true)).toBe('hello');
  expect(ask).toHaveBeenCalledTimes(3);
});

test.each([
  ['nothing runs', refused, false],
  ['it was reached', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), true],
])('the request is not retried when %s', async (_, error, isSupervised) => {
  const ask = vi.fn().mockRejectedValue(error);
  await expect(whileRestarting(ask, () => isSupervised)).rejects.toBe(error);
  expect(ask).toHaveBeenCalledTimes(1);
});
