import { createHash } from 'node:crypto';

const maxLength = 128;
const mark = '#sha256:';

/** A name of whole characters and bounded length for a platform's name of any kind: mostly itself. Two names never share one. */
export const boundedName = (name: string): string =>
  name.length <= maxLength && name.isWellFormed() && !name.startsWith(mark)
    ? name
    : `${mark}${createHash('sha256').update(JSON.stringify(name)).digest('base64url')}`;
