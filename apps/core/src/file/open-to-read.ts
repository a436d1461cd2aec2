import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ifThere } from '@svc/service-kit/files.ts';

/** Opens a file without following a link; null for a missing one. */
export const openToRead = (file: string): Promise<FileHandle | null> =>
  ifThere(open(file, constants.O_RDONLY | constants.O_NOFOLLOW), null);
