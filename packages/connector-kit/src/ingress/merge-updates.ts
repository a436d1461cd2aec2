import type { Envelope } from '@svc/contract/envelope.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';

type Prepared = { id: string; envelope: Envelope };
export type Merged = { ids: string[]; envelope: Envelope };

/** Maximum number of files of one message (contract of the envelope). */
const maxFiles = 32;
const maxText = 1_000_000;

/**
 * Merges updates that belong together into one message with all their texts and files. A different sender or conversation, or too much
 * content, starts the next message.
 */
export function mergeUpdates(prepared: readonly Prepared[]): Merged[] {
  const merged: Merged[] = [];
  for (const { id, envelope } of prepared) {
    const last = merged.at(-1);
    const both = last === undefined ? null : mergeTwo(last.envelope, envelope);
    if (last === undefined || both === null) merged.push({ ids: [id], envelope });
    else merged.splice(-1, 1, { ids: [...last.ids, id], envelope: both });
  }
  return merged;
}

/**
 * Null when they cannot be merged. The message gets the id of the first update with a text, because that one can be edited, and mentions the
 * assistant if any of them does; everything else comes from the first update.
 */
function mergeTwo(first: Envelope, next: Envelope): Envelope | null {
  if (originOf(first) !== originOf(next)) return null;
  const attachments = [...(first.content.attachments ?? []), ...(next.content.attachments ?? [])];
  const text = [first.content.text, next.content.text].filter((part) => part !== '').join('\n');
  if (attachments.length > maxFiles || text.length > maxText) return null;
  const { message_id } = first.content.text === '' && next.content.text !== '' ? next : first;
  const content = { ...first.content, text, ...(attachments.length > 0 && { attachments }) };
  return { ...first, message_id, ...(next.mentioned === true && { mentioned: true }), content };
}

const originOf = ({ channel, conversation_key, sender, public: isPublic = false, delivery = 'sync' }: Envelope): string =>
  compositeKey(channel, conversation_key, sender.raw_id, isPublic, delivery);
