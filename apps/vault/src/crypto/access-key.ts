import { createHash, randomBytes } from 'node:crypto';

/** A new key: 256 random bits behind a prefix that says what it is for. */
export const newAccessKey = (prefix: string): string => `${prefix}_${randomBytes(32).toString('base64url')}`;

/** What is kept of it. Such keys cannot be guessed, so a slow hash would protect nothing more. */
export const hashAccessKey = (key: string): Buffer => createHash('sha256').update(key).digest();
