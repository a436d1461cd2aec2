import type { ReplyPlatform } from '@svc/connector-kit';
import { domainOf } from '../incoming/mail-address.ts';
import type { NamedThread, Threads } from '../threads.ts';
import { composeMail } from './compose-mail.ts';
import type { MailToSend } from './send-mail.ts';
import type { SentMails } from './sent-mails.ts';

export type PlatformDeps = {
  address: string;
  assistantName: string;
  threads: Threads;
  sent: SentMails;
  send(mail: MailToSend): Promise<void>;
  /** Whether the server keeps a mail of ours among what was sent. */
  isInSent(messageId: string): Promise<boolean>;
};

const longestSubject = 78;

/** What can be done with mails: they are sent, and looked for. */
export function createReplyPlatform(deps: PlatformDeps): Required<Pick<ReplyPlatform, 'post' | 'find'>> {
  const { address, threads, sent } = deps;
  const idOf = (nonce: string): string => `${nonce}@${domainOf(address)}`;
  const wordsOf = (thread: NamedThread, text: string): string =>
    thread.mails.length > 0 ? `Re: ${withoutMark(thread.subject)}`.trim() : firstLine(text, deps.assistantName);

  return {
    async post({ chat, text, nonce, about, signal }) {
      const id = idOf(nonce);
      if ((await sent.find(nonce))?.isSure === true) return id;
      const thread = threads.ofTarget(chat);
      const known = thread.mails.flatMap((mail) => mail.id ?? []).filter((one) => one !== id);
      const answered = thread.mails.find(({ name }) => name !== '' && name === about)?.id ?? null;
      const subject = wordsOf(thread, text);
      const before = [...new Set([...(thread.root.includes('@') ? [thread.root] : []), ...known])];
      const raw = await composeMail({
        from: address,
        fromName: deps.assistantName,
        to: thread.sender,
        subject,
        text,
        id,
        answers: answered ?? known.at(-1) ?? null,
        before,
      });
      await deps.send({ from: address, to: thread.sender, raw, begins: () => sent.note(nonce, false), signal });
      await sent.note(nonce, true);
      await threads.noteOwn(chat, id, subject);
      return id;
    },
    /** One that may be there and is in no folder is sent again, under the same Message-ID: twice is better than never. */
    async find({ nonce }) {
      const known = await sent.find(nonce);
      if (known === null) return null;
      const id = idOf(nonce);
      if (known.isSure) return id;
      if (!(await deps.isInSent(id))) return null;
      await sent.note(nonce, true);
      return id;
    },
  };
}

const withoutMark = (subject: string): string => subject.replace(/^(\s*(re|aw|antw|sv|vs)(\[\d+\])?\s*:)+\s*/i, '');

function firstLine(text: string, assistantName: string): string {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const plain = line.replaceAll(/[*_`#>]+/g, '').trim();
  if (plain === '') return `From ${assistantName}`;
  return plain.length <= longestSubject ? plain : `${plain.slice(0, longestSubject - 1).toWellFormed()}…`;
}
