import { statfs } from 'node:fs/promises';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Always left to the rest of the service. */
const reserveBytes = 128 * 1024 * 1024;

/** Bytes that a backup or a restore may still take on the disk of a folder. */
export async function roomIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.max(0, bavail * bsize - reserveBytes);
}

/** @throws ServiceError `insufficient_storage`. */
export async function checkRoom(folder: string, bytes: number): Promise<void> {
  const room = await roomIn(folder);
  if (bytes <= room) return;
  throw new ServiceError(
    'insufficient_storage',
    `This takes up to ${bytes} bytes, and the disk has room for ${room}. Free some space.`,
    {
      details: { free: room, size: bytes },
    },
  );
}
