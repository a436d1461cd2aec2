import { errorText, type CoreApi, type Envelope, type StartContext } from '@svc/connector-kit';
import { channelLine } from '@svc/connector-kit/channel-line.ts';
import type { TakeFile } from '@svc/connector-kit/ingress/take-file.ts';
import { invitationIn } from '@svc/contract/invitation.ts';
import { typedText } from '@svc/connector-kit/typed-text.ts';
import { meta, type Config } from '../meta.ts';
import type { NamedThread } from '../threads.ts';
import { readBody, type MailBody, type MailFile } from './read-body.ts';

export type IncomingMailFile = { kind: 'file'; what: string; name: string; mime: string; bytes: number; data: Buffer };
export type EnvelopeDeps = Pick<StartContext, 'log'> & {
  core: Pick<CoreApi, 'resolve'>;
  config: Pick<Config, 'answer_strangers'>;
  takeFile: TakeFile<IncomingMailFile>;
};
export type PlacedMail = {
  thread: NamedThread;
  name: string;
  subject: string;
  bytes: number;
  read(mostBytes: number): Promise<Buffer>;
};

/** A mail is held in memory while it is read; of a larger one the beginning is. */
const mostBytes = 40 * 1024 * 1024;
const ofLarger = 1024 * 1024;
/** A larger mail is not looked through for a code. */
const mostOfInvitation = 64 * 1024;
/** The contract's bound of what is said beside a text. */
const maxSaid = 1000;

/** A mail as the core takes it, its files brought along. For whom nothing is answered nothing is read. */
export async function toEnvelope(deps: EnvelopeDeps, mail: PlacedMail, signal: AbortSignal): Promise<Envelope> {
  const { thread, name } = mail;
  const sender = { raw_id: thread.sender, raw_username: thread.sender };
  const base = {
    channel: meta.type,
    conversation_key: thread.conversationKey,
    message_id: name,
    sender,
    capabilities: meta.capabilities,
    channel_context: { target: thread.target },
  };
  const identity = await deps.core.resolve({ channel: meta.type, sender, conversation_key: thread.conversationKey });
  if (identity.denied) return ofStranger(deps, mail, base);
  const isWhole = mail.bytes <= mostBytes;
  const raw = await mail.read(isWhole ? mostBytes : ofLarger);
  const body = await bodyOf(deps, raw, mail);
  const files = await takeFiles(deps, [...quotedFile(body), ...(isWhole ? body.files : [])], mail, signal);
  const lines = [
    ...body.invitations.map((words) => channelLine('Sent list', `: ${words}`)),
    ...files.flatMap(({ words }) => (words === undefined ? [] : [words])),
    ...(body.leftOut > 0 ? [channelLine('Sent file', `: ${body.leftOut} more, which are left out`)] : []),
    ...(isWhole ? [] : [channelLine('Sent file', `: the mail is too large; only its beginning is here`)]),
  ];
  const command = body.text.trim();
  const isCommand = /^\/[a-z]+(\s|$)/.test(command) && lines.length === 0;
  const text = isCommand
    ? command
    : [channelLine('Written', ` in a mail with the subject "${mail.subject}"`), typedText(body.text), ...lines].join('\n');
  const attachments = files.flatMap(({ attachment }) => (attachment === undefined ? [] : [attachment]));
  return {
    ...base,
    content: {
      text,
      ...(!isCommand && command !== '' && command.length <= maxSaid && { said: command }),
      ...(attachments.length > 0 && { attachments }),
    },
  };
}

/**
 * A stranger is listed for the operator and gets no answer, as most of them are programs. The code of an invitation is taken: a person gave it to them, so
 * they are told what came of it.
 */
async function ofStranger(deps: EnvelopeDeps, mail: PlacedMail, base: Omit<Envelope, 'content'>): Promise<Envelope> {
  const code = mail.bytes > mostOfInvitation ? '' : (await bodyOf(deps, await mail.read(mostOfInvitation), mail)).text.trim();
  if (invitationIn(code) !== null) return { ...base, content: { text: code } };
  const content = { text: mail.subject === '' ? '(a mail)' : mail.subject };
  return { ...base, content, ...(!deps.config.answer_strangers && { public: true }) };
}

/** What was cut from the text, kept at hand as a file. */
const quotedFile = ({ cut }: MailBody): MailFile[] =>
  cut === '' ? [] : [{ name: 'quoted-text.txt', mime: 'text/plain', data: Buffer.from(cut) }];

/** What no parser takes is reported with its subject: its sender learns that it could not be read. */
async function bodyOf({ log }: EnvelopeDeps, raw: Buffer, { name }: PlacedMail): Promise<MailBody> {
  try {
    return await readBody(raw);
  } catch (error) {
    log('warn', 'a message could not be parsed; only its subject is passed on', { mail: name, error: errorText(error) });
    return {
      text: channelLine('Sent media', ': the mail cannot be read'),
      cut: '',
      invitations: [],
      files: [],
      leftOut: 0,
    };
  }
}

/** One after the other: the core takes a few at once from all. */
async function takeFiles(
  { takeFile }: EnvelopeDeps,
  files: readonly MailFile[],
  { thread, name }: PlacedMail,
  signal: AbortSignal,
) {
  const taken = [];
  const origin = { conversationKey: thread.conversationKey, sender: thread.sender, message: name, signal };
  for (const { name: called, mime, data } of files)
    taken.push(await takeFile({ kind: 'file', what: 'attachment', name: called, mime, bytes: data.length, data }, origin));
  return taken;
}
