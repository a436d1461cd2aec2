import { createHash } from 'node:crypto';
import type { Envelope } from '@svc/contract/envelope.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';

/** Replaces half a surrogate pair by U+FFFD: a platform may cut there, and the core refuses it. */
const whole = (_key: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value);

/**
 * The envelope as the core accepts it. A message without an id gets one that is derived from its first update, and so stays the same: the
 * core runs a message with an id only once, however often it is sent.
 */
export function readyEnvelope(envelope: Envelope, chat: string, [first = '']: readonly string[]): Envelope {
  const named = { ...envelope, message_id: envelope.message_id ?? nameOf(chat, first) };
  const json = JSON.stringify(named);
  return json.includes('\\ud') ? (JSON.parse(JSON.stringify(named, whole)) as Envelope) : named;
}

const nameOf = (chat: string, update: string): string =>
  `update-${createHash('sha256').update(compositeKey(chat, update)).digest('base64url')}`;
