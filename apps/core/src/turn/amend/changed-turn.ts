import type { Envelope } from '@svc/contract/envelope.ts';
import { mergeMessages } from '../merge-messages.ts';
import type { MergedMessage, Turn } from '../turn.ts';

/** Whether a turn answers this message: its own one, one that was merged into it, or one whose edit it handles. */
export const holds = ({ envelope, parts, amends }: Turn, messageId: string): boolean =>
  amends?.message_id === messageId ||
  (parts === undefined ? isNamed(envelope, messageId) : parts.some((part) => isNamed(part.envelope, messageId)));

/** The original message: in a merged turn, its part. */
export const messageOf = ({ envelope, parts }: Turn, messageId: string): Envelope =>
  parts?.find((part) => isNamed(part.envelope, messageId))?.envelope ?? envelope;

const isNamed = ({ message_id }: Envelope, messageId: string): boolean => message_id === messageId;

/** The turn with the text of this message replaced. */
export function withText(turn: Turn, messageId: string, text: string, version: number): Turn {
  const { envelope, parts, amends } = turn;
  if (amends?.message_id === messageId) return { ...turn, envelope: saying(envelope, text), amends: { ...amends, version } };
  if (parts === undefined) return { ...turn, envelope: saying(envelope, text) };
  const changed = parts.map((part) =>
    isNamed(part.envelope, messageId) ? { ...part, envelope: saying(part.envelope, text) } : part,
  );
  return fromParts(turn, changed);
}

/** The turn without this message and its files; null when nothing is left. */
export function without(turn: Turn, messageId: string): Turn | null {
  const left = turn.parts?.filter(({ envelope }) => !isNamed(envelope, messageId)) ?? [];
  return left.length === 0 ? null : fromParts(turn, left);
}

/** A turn made of several messages, in their order, from the sender of the last one. */
export function fromParts(turn: Turn, parts: MergedMessage[]): Turn {
  const { envelope, together } = mergeMessages(parts);
  const { text, attachments } = envelope.content;
  const content = { ...turn.envelope.content, text, attachments };
  return { ...turn, parts, together, envelope: { ...turn.envelope, sender: envelope.sender, content } };
}

/** The messages of a turn: its own one if it was not merged. `name`: its sender's name. */
export const partsOf = ({ envelope, parts }: Turn, name: string): MergedMessage[] => parts ?? [{ envelope, name }];

const saying = (envelope: Envelope, text: string): Envelope => ({ ...envelope, content: { ...envelope.content, text } });
