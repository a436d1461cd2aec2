import { freeSpace } from '@svc/service-kit/free-space.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { counted, inUnits } from '@svc/service-kit/words.ts';

/** Kept free for the rest of the service by large operations: a backup, a restore. */
const reserveBytes = 128 * 1024 * 1024;

/** How many bytes a backup or a restore may still use on the disk of a folder. */
export const roomIn = async (folder: string): Promise<number> => Math.max(0, (await freeSpace(folder)) - reserveBytes);

/** Checks that a file of this size fits on the disk of a folder. @throws ServiceError `insufficient_storage`. */
export async function checkSpace(folder: string, size: number): Promise<void> {
  const free = await freeSpace(folder);
  if (size > free) throw noSpace(`The disk has ${counted(free, 'byte')} left, and this file has ${size}.`, free, size);
}

/** The same check, with space reserved for the rest of the service. `size`: the most that it may need. */
export async function checkRoom(folder: string, size: number): Promise<void> {
  const free = await roomIn(folder);
  if (size <= free) return;
  const left = await freeSpace(folder);
  const words = `This takes up to ${inUnits(size)}. The disk has ${inUnits(left)} left, and ${inUnits(reserveBytes)} of it stay free for the service.`;
  throw noSpace(words, free, size);
}

/** The error for a backup that unpacks to more than `roomIn` allows: its size is unknown beforehand. */
export const noRoomToUnpack = (room: number): ServiceError => {
  const words = `The backup unpacks to more than the ${inUnits(room)} that it may take: ${inUnits(reserveBytes)} of the disk stay free for the service.`;
  return noSpace(words, room);
};

const noSpace = (words: string, free: number, size?: number) =>
  new ServiceError('insufficient_storage', `${words} Free some space.`, { details: { free, size } });
