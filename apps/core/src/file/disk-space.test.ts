import { expect, test } from 'vitest';
import { checkRoom } from './disk-space.ts';

test('a file that does not fit on the disk is rejected with its size, the free space and the reserve', async () => {
  await checkRoom('/', 0);
  await expect(checkRoom('/', 2 ** 60)).rejects.toMatchObject({
    code: 'insufficient_storage',
    message: expect.stringMatching(
      /^This takes up to 1048576\.0 TiB\. The disk has [\d.]+ [GMT]iB left, and 128\.0 MiB of it stay free for the service\. Free some space\.$/,
    ),
  });
});
