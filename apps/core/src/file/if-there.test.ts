import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ifThere } from './if-there.ts';

test('only a file that does not exist is replaced; a fault of another kind is thrown', async () => {
  await expect(ifThere(Promise.resolve('text'), null)).resolves.toBe('text');
  await expect(ifThere(readFile('/nowhere/at/all'), null)).resolves.toBeNull();
  await expect(ifThere(readFile('/'), null)).rejects.toMatchObject({ code: 'EISDIR' });
});
