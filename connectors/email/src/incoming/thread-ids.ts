import { valueOf, type MailHeaders } from './mail-headers.ts';

/** The relations of a mail to others. Ids have no angle brackets. `before`: those it references, starting with the thread's first mail. */
export type ThreadIds = { own: string | null; before: string[] };

/** Maximum number of references: the first one, which identifies the thread, and the newest. */
const most = 100;
const longestId = 998;

/** The ids in `Message-ID`, `References` and `In-Reply-To` (RFC 5322 section 3.6.4). */
export function threadIds(headers: MailHeaders): ThreadIds {
  const references = idsIn(valueOf(headers, 'references'));
  const answered = idsIn(valueOf(headers, 'in-reply-to')).slice(0, 1);
  const all = [...new Set([...references, ...answered])];
  const before = all.length <= most ? all : [...all.slice(0, 1), ...all.slice(1 - most)];
  return { own: idsIn(valueOf(headers, 'message-id'))[0] ?? null, before };
}

const idsIn = (value = ''): string[] =>
  [...value.matchAll(/<([^<>\s]+)>/g)].map(([, id = '']) => id).filter((id) => id.length <= longestId);

/** A subject without reply and forward prefixes, for mails whose programs reference no other mail. */
export function plainSubject(subject: string): string {
  const text = subject.replaceAll(/\s+/g, ' ').trim().slice(0, 500);
  return text.replace(marks, '').toLowerCase();
}

const answered = 're|aw|antw|sv|vs|odp|ynt|rif|res|回复|答复|回覆';
const marks = new RegExp(`^((${answered}|r|fw|fwd|wg|tr)(\\[\\d+\\]|\\(\\d+\\))?\\s*[:：]\\s*)+`, 'i');
const answerMarks = new RegExp(`^(\\s*(${answered})(\\[\\d+\\])?\\s*[:：])+\\s*`, 'i');

export const isAnswer = (subject: string): boolean => answerMarks.test(subject);
/** A subject without its reply prefixes. */
export const withoutMark = (subject: string): string => subject.replace(answerMarks, '');
