import { channelPattern } from '@svc/contract/envelope.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

/** The session whose turn reads its mailbox. */
export type Reader = { conversationKey: string; channel: string; principalKey: string | null; isPublic: boolean };

const surfacePrefix = 'surface:';
const identityPrefix = 'identity:';
const channelName = new RegExp(channelPattern);

/**
 * Rejects a target that no session can match. A target without a known prefix is a conversation key.
 * @throws ServiceError `bad_request`.
 */
export function checkTarget(target: string): void {
  const { what, name } = partsOf(target);
  const isFine = what === 'all' || (what === 'surface' ? channelName.test(name) : name !== '');
  if (!isFine) {
    const problem = 'takes "*", a conversation key, surface:<channel> or identity:<principal key>';
    throw badRequest(`"target" ${problem}.`, { fields: [{ field: 'body.target', problem }] });
  }
}

/** Parses a target: everybody, or one channel, principal key or conversation key. */
export function partsOf(target: string): { what: 'all' | 'surface' | 'identity' | 'session'; name: string } {
  if (target === '*') return { what: 'all', name: '' };
  if (target.startsWith(surfacePrefix)) return { what: 'surface', name: target.slice(surfacePrefix.length) };
  if (target.startsWith(identityPrefix)) return { what: 'identity', name: target.slice(identityPrefix.length) };
  return { what: 'session', name: target };
}

/** Whether an announcement with this target is for the reader. An announcement for one person is never shown in a public conversation. */
export function fits(target: string, { conversationKey, channel, principalKey, isPublic }: Reader): boolean {
  if (target === '*') return true;
  if (target.startsWith(surfacePrefix)) return target.slice(surfacePrefix.length) === channel;
  if (target.startsWith(identityPrefix)) return !isPublic && target.slice(identityPrefix.length) === principalKey;
  return target === conversationKey;
}
