import { createHash } from 'node:crypto';

/** A name of bounded length for one of any length; two names never share one. */
export const shortName = (name: string): string =>
  name.length <= 64 && name.isWellFormed()
    ? `=${name}`
    : `#${createHash('sha256').update(JSON.stringify(name)).digest('base64url')}`;
