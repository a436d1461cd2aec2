import { hash } from 'node:crypto';

/** Session keys are built and parsed only here; everywhere else they are opaque. */
export const channelKey = (type: string, instanceId: string, channelId: string) => `${type}:${instanceId}:channel:${channelId}`;
export const userKey = (type: string, instanceId: string, userId: string) => `${type}:${instanceId}:user:${userId}`;
export const deviceKey = (type: string, instanceId: string, deviceId: string) => `${type}:${instanceId}:device:${deviceId}`;
export const issueKey = (instanceId: string, repo: string, issue: number) => `issues:${instanceId}:repo:${repo}:issue:${issue}`;

/** A mail thread, identified by the Message-ID of its first mail. */
export const emailKey = (type: string, instanceId: string, rootMessageId: string) =>
  `${type}:${instanceId}:thread:${emailId(rootMessageId)}`;

const longestEmailId = 200;
const hashed = 'sha256:';

/**
 * A Message-ID as the `message_id` of an envelope. Its sender chose it: a long or unusual one is hashed, and so is one that looks like a
 * hash.
 */
export function emailId(messageId: string): string {
  const isPlain = messageId.length <= longestEmailId && /^[\u0021-\u007e]+$/.test(messageId) && !messageId.startsWith(hashed);
  return isPlain ? messageId : `${hashed}${hash('sha256', Buffer.from(messageId, 'utf16le'), 'hex')}`;
}

/** A compat conversation: the same caller and the same first message lead to the same session. */
export const compatKey = (instanceId: string, identity: string, firstMessage: string) =>
  `compat:${instanceId}:${fingerprint(identity, firstMessage)}`;

/** A compat conversation that its caller named; the same name from another caller is another session. */
export const compatSessionKey = (instanceId: string, identity: string, name: string) =>
  `compat:${instanceId}:session:${fingerprint(identity, name)}`;

/** A compat conversation of a single request: the same message, sent again, leads to it. */
export const compatOnceKey = (instanceId: string, identity: string, messageId: string) =>
  `compat:${instanceId}:once:${fingerprint(identity, messageId)}`;

/** The name of the session for a request that asks for a new one. The same message, sent again, gets the same name. */
export const newSessionName = (identity: string, messageId: string) => `s-${fingerprint(identity, messageId)}`;
export const isNewSessionName = (name: string): boolean => /^s-[0-9a-f]{32}$/.test(name);

export type KeyParts = { type: string; instanceId: string; rest: string };

/** The parts that all keys have; null for a text that is not a key. */
export function parseKey(key: string): KeyParts | null {
  const match = /^([a-z][a-z0-9_-]*):([^:]+):(.+)$/s.exec(key);
  if (match === null) return null;
  const [, type = '', instanceId = '', rest = ''] = match;
  return { type, instanceId, rest };
}

/** Each text is preceded by its length, so that moving characters between them cannot produce another caller's session. */
const fingerprint = (identity: string, text: string): string =>
  hash('sha256', `${identity.length}:${identity}${text.length}:${text}`, 'hex').slice(0, 32);
