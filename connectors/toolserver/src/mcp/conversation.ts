import { userKey } from '@svc/connector-kit/conversation-key.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { meta } from '../meta.ts';

const namePattern = /^[\w.-]{1,64}$/;

/** The conversation of a user, or one of theirs by its name. No user's id holds the colon that parts them. */
export function conversationKey(instanceId: string, userId: string, name?: string): string {
  const key = userKey(meta.type, instanceId, userId);
  if (name === undefined) return key;
  if (!namePattern.test(name)) throw badRequest('A conversation name must have 1 to 64 characters: letters, digits, and . _ -');
  return `${key}:conversation:${name}`;
}
