import { statfs } from 'node:fs/promises';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** A file of so many bytes fits on the disk of a folder as it is now. @throws ServiceError `insufficient_storage`. */
export async function checkSpace(folder: string, size: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (size <= free) return;
  throw new ServiceError('insufficient_storage', `The disk has ${free} bytes left, and this file has ${size}. Free some space.`, {
    details: { free, size },
  });
}
