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

/** A mail is held in memory while it is read; of a larger one, only the beginning is read. */
const mostBytes = 40 * 1024 * 1024;
const ofLarger = 1024 * 1024;
/** A larger mail is not searched for an invitation code. */
const mostOfInvitation = 64 * 1024;
/** The contract's limit of what is said besides a text. */
const maxSaid = 1000;

/** A mail as an envelope, with its files. The body is not read for a sender who gets no answer. */
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
 * A stranger is listed for the operator and gets no answer, because most of them are programs. An invitation code is accepted: a person
 * gave it to them, so they are told the result.
 */
async function ofStranger(deps: EnvelopeDeps, mail: PlacedMail, base: Omit<Envelope, 'content'>): Promise<Envelope> {
  const code = mail.bytes > mostOfInvitation ? '' : (await bodyOf(deps, await mail.read(mostOfInvitation), mail)).text.trim();
  if (invitationIn(code) !== null) return { ...base, content: { text: code } };
  const content = { text: mail.subject === '' ? '(a mail)' : mail.subject };
  return { ...base, content, ...(!deps.config.answer_strangers && { public: true }) };
}

/** The part that was cut from the text, available as a file. */
const quotedFile = ({ cut }: MailBody): MailFile[] =>
  cut === '' ? [] : [{ name: 'quoted-text.txt', mime: 'text/plain', data: Buffer.from(cut) }];

/** A mail that cannot be parsed is passed on with its subject, so that its sender learns about it. */
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

/** One after the other, because the core accepts only a few files at once from all callers. */
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
