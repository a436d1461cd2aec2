import { badRequest } from '@svc/service-kit/service-error.ts';

/** A place in the list of sessions, newest first: what comes after it was active earlier, or at the same time and has a later key. */
export type SessionCursor = { at: number; key: string };

/** Before all sessions. */
export const listStart: SessionCursor = { at: Number.MAX_SAFE_INTEGER, key: '' };

/** The place of a session, as it can stand in an address. */
export const writeCursor = ({ last_active_at, conversation_key }: { last_active_at: number; conversation_key: string }): string =>
  `${last_active_at}.${Buffer.from(conversation_key).toString('base64url')}`;

/**
 * Reads the `before` of a list: what `writeCursor` gave, or a time alone, of which nothing that was active then is listed.
 * @throws ServiceError `bad_request`.
 */
export function parseCursor(before: string | undefined): SessionCursor {
  if (before === undefined) return listStart;
  const [, time, key] = /^(\d{1,16})(?:\.([\w-]+))?$/.exec(before) ?? [];
  if (time === undefined) throw badRequest('The query parameter before takes the "next" of a page, or a time in milliseconds.');
  const at = Math.min(Number(time), Number.MAX_SAFE_INTEGER);
  return key === undefined ? { at: at - 1, key: '' } : { at, key: Buffer.from(key, 'base64url').toString() };
}
