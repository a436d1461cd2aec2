import { hash } from 'node:crypto';

/** Session keys are made and taken apart here alone; everywhere else they are opaque. */
export const channelKey = (type: string, instanceId: string, channelId: string) => `${type}:${instanceId}:channel:${channelId}`;
export const userKey = (type: string, instanceId: string, userId: string) => `${type}:${instanceId}:user:${userId}`;
export const deviceKey = (type: string, instanceId: string, deviceId: string) => `${type}:${instanceId}:device:${deviceId}`;
export const issueKey = (instanceId: string, repo: string, issue: number) => `issues:${instanceId}:repo:${repo}:issue:${issue}`;

/** A thread of e-mails, by the Message-ID of its first one. */
export const emailKey = (type: string, instanceId: string, rootMessageId: string) =>
  `${type}:${instanceId}:thread:${emailId(rootMessageId)}`;

const longestEmailId = 200;
const hashed = 'sha256:';

/** A Message-ID as the `message_id` of an envelope. Its sender chose it: one that is long or odd is hashed, and so is one that looks hashed. */
export function emailId(messageId: string): string {
  const isPlain = messageId.length <= longestEmailId && /^[\u0021-\u007e]+$/.test(messageId) && !messageId.startsWith(hashed);
  return isPlain ? messageId : `${hashed}${hash('sha256', Buffer.from(messageId, 'utf16le'), 'hex')}`;
}

/** A compat conversation: the same caller and the same first message come back to the same session. */
export const compatKey = (instanceId: string, identity: string, firstMessage: string) =>
  `compat:${instanceId}:${fingerprint(identity, firstMessage)}`;

/** A compat conversation that its caller named; another caller's equal name is another session. */
export const compatSessionKey = (instanceId: string, identity: string, name: string) =>
  `compat:${instanceId}:session:${fingerprint(identity, name)}`;

/** A compat conversation of a single request: the same message, sent again, comes back to it. */
export const compatOnceKey = (instanceId: string, identity: string, messageId: string) =>
  `compat:${instanceId}:once:${fingerprint(identity, messageId)}`;

/** The name of the session that a request asked to be new. The same message, sent again, has the same. */
export const newSessionName = (identity: string, messageId: string) => `s-${fingerprint(identity, messageId)}`;
export const isNewSessionName = (name: string): boolean => /^s-[0-9a-f]{32}$/.test(name);

export type KeyParts = { type: string; instanceId: string; rest: string };

/** The parts that all keys have; null for a text that is no key. */
export function parseKey(key: string): KeyParts | null {
  const match = /^([a-z][a-z0-9_-]*):([^:]+):(.+)$/s.exec(key);
  if (match === null) return null;
  const [, type = '', instanceId = '', rest = ''] = match;
  return { type, instanceId, rest };
}

/** Lengths stand before the texts, so that no shift of characters between them gives another caller's session. */
const fingerprint = (identity: string, text: string): string =>
  hash('sha256', `${identity.length}:${identity}${text.length}:${text}`, 'hex').slice(0, 32);
