import type { Place, ReplyFile, ReplyPlatform } from '@svc/connector-kit';
import { domainOf } from '../incoming/mail-address.ts';
import { withoutMark } from '../incoming/thread-ids.ts';
import type { NamedThread, Threads } from '../threads.ts';
import { composeMail, type MailFile } from './compose-mail.ts';
import type { MailToSend } from './send-mail.ts';
import type { SentMails } from './sent-mails.ts';

export type PlatformDeps = {
  address: string;
  assistantName: string;
  threads: Threads;
  sent: SentMails;
  /** Address for a copy of each mail; empty for none. */
  copyTo: string;
  send(mail: MailToSend): Promise<void>;
  /** The files that can be sent, and a line of text for each that cannot. */
  readFiles(files: readonly ReplyFile[]): Promise<{ files: MailFile[]; lines: string[] }>;
  /** Whether the server has stored one of our mails as sent. */
  isInSent(messageId: string): Promise<boolean>;
};

const longestSubject = 78;

type Post = Place & { nonce: string; about?: string | undefined; text: string; files: readonly MailFile[] };

/** What can be done with mails: they are sent, and searched for. */
export function createReplyPlatform(
  deps: PlatformDeps,
): Required<Pick<ReplyPlatform, 'post' | 'find' | 'file' | 'albums' | 'textWithFiles'>> {
  const { address, threads, sent } = deps;
  const idOf = (nonce: string): string => `${nonce}@${domainOf(address)}`;
  const subjectOf = (thread: NamedThread, text: string): string =>
    thread.mails.length > 0 ? `Re: ${withoutMark(thread.subject)}`.trim() : firstLine(text, deps.assistantName);

  /** The Message-ID of a mail that the server has; if that is uncertain, the server is asked. Null when the mail must be sent. */
  async function find(nonce: string): Promise<string | null> {
    const known = await sent.find(nonce);
    if (known === null) return null;
    const id = idOf(nonce);
    if (known.isSure) return id;
    if (!(await deps.isInSent(id))) return null;
    await sent.note(nonce, true);
    return id;
  }

  async function post({ chat, text, nonce, about, signal, files }: Post): Promise<string> {
    const there = await find(nonce);
    if (there !== null) return there;
    const id = idOf(nonce);
    const thread = threads.ofTarget(chat);
    const known = thread.mails.flatMap((mail) => mail.id ?? []).filter((one) => one !== id);
    const answered = thread.mails.find(({ name }) => name !== '' && name === about)?.id ?? null;
    const subject = subjectOf(thread, text);
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
      files,
    });
    const begins = () => sent.note(nonce, false);
    await deps.send({ from: address, to: thread.sender, copyTo: deps.copyTo, raw, begins, signal });
    await sent.note(nonce, true);
    await threads.noteOwn(chat, id, subject);
    return id;
  }

  async function postFiles({
    files,
    nonce,
    answers,
    ...place
  }: Place & { files: readonly ReplyFile[]; nonce: string; answers?: string }) {
    const read = await deps.readFiles(files);
    const captions = files.flatMap(({ caption = '' }) => (caption === '' ? [] : [caption]));
    const lines = [...captions, ...read.lines];
    const text = lines.length > 0 ? lines.join('\n\n') : read.files.map(({ name }) => name).join('\n');
    return post({ ...place, nonce, about: answers, text, files: read.files });
  }

  return {
    post: (message) => post({ ...message, files: [] }),
    /** A mail that may have been sent but is in no folder is sent again with the same Message-ID: twice is better than never. */
    find: ({ nonce }) => find(nonce),
    file: ({ chat, signal, nonce, answers, ...file }) =>
      postFiles({ chat, signal, nonce, files: [file], ...(answers !== undefined && { answers }) }),
    textWithFiles: true,
    albums: { group: (files) => (files.length === 0 ? [] : [files]), post: postFiles },
  };
}

function firstLine(text: string, assistantName: string): string {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const plain = line.replaceAll(/[*_`#>]+/g, '').trim();
  if (plain === '') return `From ${assistantName}`;
  return plain.length <= longestSubject ? plain : `${plain.slice(0, longestSubject - 1).toWellFormed()}…`;
}
