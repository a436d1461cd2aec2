import type { Envelope } from '@svc/contract/envelope.ts';
import { originOf } from './origin.ts';
import type { MergedMessage } from './turn.ts';

/** Everything that a reader may take for the end of a line. */
const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** A person's message in a room. Further lines are indented, so that nobody can begin a line in another's name. */
const said = ({ envelope, name }: MergedMessage): string => `${name}: ${envelope.content.text.replaceAll(lineEnd, '\n  ')}`;

/** Merges messages into one, in order. `together`: the senders' names when there are several; each message then begins with its sender's name. */
export function mergeMessages(messages: readonly MergedMessage[]): { envelope: Envelope; together?: string[] } {
  const last = messages.at(-1);
  if (last === undefined) throw new Error('nothing to merge');
  const senders = new Map(messages.map(({ envelope, name }) => [originOf(envelope), name]));
  const isOfOne = senders.size === 1;
  const envelope = {
    ...last.envelope,
    content: {
      ...last.envelope.content,
      text: messages.map((message) => (isOfOne ? message.envelope.content.text : said(message))).join('\n'),
      attachments: messages.flatMap(({ envelope: { content } }) => content.attachments ?? []),
    },
  };
  return isOfOne ? { envelope } : { envelope, together: [...new Set(senders.values())] };
}
