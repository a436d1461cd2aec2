import { createHash, randomBytes } from 'node:crypto';

/** A new key: 256 random bits after a prefix for its purpose. */
export const newAccessKey = (prefix: string): string => `${prefix}_${randomBytes(32).toString('base64url')}`;

/** The hash that is stored. Such keys cannot be guessed, so a slow hash would not protect them better. */
export const hashAccessKey = (key: string): Buffer => createHash('sha256').update(key).digest();
