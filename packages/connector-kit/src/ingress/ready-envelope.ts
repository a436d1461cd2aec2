import { createHash } from 'node:crypto';
import type { Envelope } from '@svc/contract/envelope.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';

/** Half of a character becomes U+FFFD: a platform may cut there, and the core takes none. */
const whole = (_key: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value);

/**
 * The envelope as the core takes it. A message without a name gets one that its first update always gives: the core runs a message with a name
 * once, however often it is asked.
 */
export function readyEnvelope(envelope: Envelope, chat: string, [first = '']: readonly string[]): Envelope {
  const named = { ...envelope, message_id: envelope.message_id ?? nameOf(chat, first) };
  const json = JSON.stringify(named);
  return json.includes('\\ud') ? (JSON.parse(JSON.stringify(named, whole)) as Envelope) : named;
}

const nameOf = (chat: string, update: string): string =>
  `update-${createHash('sha256').update(compositeKey(chat, update)).digest('base64url')}`;
