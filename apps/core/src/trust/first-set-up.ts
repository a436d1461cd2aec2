import { existsSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic, type DataPaths } from '@svc/service-kit/config/data-dir.ts';

type Places = Pick<DataPaths, 'root' | 'coreDb'>;

const markOf = ({ root }: Places) => path.join(root, 'trust.set-up');

const words = `Here since trust was first set up. While this file stands, a trust store that is gone or empty lets nobody in.
`;

/**
 * Why an empty trust store is not that of a new installation: there was one before. Null when all is well. Taken for a
 * new one, it would let in again whoever the first start lets in.
 */
export function lostStore(places: Places): string | null {
  const mark = markOf(places);
  if (!existsSync(mark)) return null;
  return (
    `the trust store ${places.coreDb} is empty, though trust had been set up here. Restore it from a backup; ` +
    `or remove ${mark} and restart to start over`
  );
}

/** Remembers, apart from the store, that there is one. Throws when the folder cannot be written to. */
export function markSetUp(places: Places): void {
  const mark = markOf(places);
  if (!existsSync(mark)) writeFileAtomic(mark, words);
}
