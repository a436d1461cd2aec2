import { badRequest } from '@svc/service-kit/service-error.ts';

/** A position in the list of sessions, newest first. Those after it were active earlier, or at the same time with a later key. */
export type SessionCursor = { at: number; key: string };

/** Before all sessions. */
export const listStart: SessionCursor = { at: Number.MAX_SAFE_INTEGER, key: '' };

/** The position of a session, safe for use in a URL. */
export const writeCursor = ({ last_active_at, conversation_key }: { last_active_at: number; conversation_key: string }): string =>
  `${last_active_at}.${Buffer.from(conversation_key).toString('base64url')}`;

/**
 * Reads the `before` of a list: a result of `writeCursor`, or a time alone, which lists only sessions last active before it.
 * @throws ServiceError `bad_request`.
 */
export function parseCursor(before: string | undefined): SessionCursor {
  if (before === undefined) return listStart;
  const [, time, key] = /^(\d{1,16})(?:\.([\w-]+))?$/.exec(before) ?? [];
  if (time === undefined)
    throw badRequest('The query parameter "before" must be the "next" of a page, or a time in milliseconds.');
  const at = Math.min(Number(time), Number.MAX_SAFE_INTEGER);
  return key === undefined ? { at: at - 1, key: '' } : { at, key: Buffer.from(key, 'base64url').toString() };
}
