import { createHash } from 'node:crypto';

const maxLength = 128;
const mark = '#sha256:';

/** Makes a unique name of well-formed characters and limited length from any name on a platform; most names stay unchanged. */
export const boundedName = (name: string): string =>
  name.length <= maxLength && name.isWellFormed() && !name.startsWith(mark)
    ? name
    : `${mark}${createHash('sha256').update(JSON.stringify(name)).digest('base64url')}`;
