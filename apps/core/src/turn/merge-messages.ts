import type { Envelope } from '@svc/contract/envelope.ts';
import { originOf } from './origin.ts';
import type { MergedMessage } from './turn.ts';

/** Whatever a reader may take for the end of a line. */
const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** What a person said in a room. Only its first line stands at the margin, so nobody can begin one in another's name. */
const said = ({ envelope, name }: MergedMessage): string => `${name}: ${envelope.content.text.replaceAll(lineEnd, '\n  ')}`;

/** Messages as one, in their order. `together`: the names of their senders when there are several; then each message has its name before it. */
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
