import type { TurnBegin } from '@svc/contract/session.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Turn } from '../turn/turn.ts';

/**
 * The first frame of a turn, masked like its reply. Returns a promise for a long text.
 * @throws when the list of secrets cannot be read.
 */
export function turnBegin(
  { knownSecrets }: { knownSecrets: Pick<KnownSecrets, 'redactor'> },
  { steering, envelope }: Turn,
): TurnBegin | Promise<TurnBegin> {
  const { content, sender, channel, message_id } = envelope;
  const begin = (text: string): TurnBegin => ({
    type: 'begin',
    origin: steering === undefined || steering.isOwn === true ? 'message' : 'inject',
    channel,
    sender: sender.raw_id,
    message_id: message_id ?? null,
    text,
    attachments: content.attachments ?? [],
  });
  const redactor = knownSecrets.redactor();
  const text = textInSlices(envelope.public === true ? redactor.forPublic : redactor, content.text);
  return typeof text === 'string' ? begin(text) : text.then(begin);
}
