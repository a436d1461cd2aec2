import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Attachment } from '@svc/contract/envelope.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { counted } from '@svc/service-kit/words.ts';
import { CliError } from '../cli-error.ts';
import { printError } from '../terminal.ts';
import type { MessageContent } from './chat-session.ts';
import { mostInlineBytes, readPiped } from './read-piped.ts';
import type { uploadAttachment } from './upload-attachment.ts';

/** The parts of a message: text, files, and piped input. */
export type MessageParts = { words: string; files: readonly string[]; piped: PipedInput | null };
/** `isLeftOpen`: the parent process may never close the pipe. */
export type PipedInput = { input: AsyncIterable<Buffer>; isLeftOpen: boolean };

const mostFiles = 32;
/** A program that pipes input in has usually written it before this process starts. */
const patienceMs = 300;

/** The text with the piped input below it. Files, and input that is too long or not text, are uploaded first. @throws CliError */
export async function toContent(settings: CliSettings, { words, files, piped }: MessageParts): Promise<MessageContent> {
  if (files.length > mostFiles)
    throw new CliError(`a message can have at most ${mostFiles} files.`, { why: `${counted(files.length, 'file')} were named.` });
  const attachments: Attachment[] = [];
  const input = piped === null ? null : await readInput(settings, piped);
  try {
    for (const file of files) attachments.push(await upload(settings, file));
    if (input?.kind === 'file') attachments.push(await upload(settings, input.file, input.mime));
  } finally {
    if (input?.kind === 'file') input.remove();
  }
  const text = [words.trim(), input?.kind === 'text' ? input.text.trim() : ''].filter((part) => part !== '').join('\n\n');
  return { text, ...(attachments.length === 0 ? {} : { attachments }) };
}

/** A typed message. A long paste in it is sent as a file, as it would be if piped in. */
export async function toTypedContent(settings: CliSettings, text: string, attachments: Attachment[]): Promise<MessageContent> {
  const given = attachments.length === 0 ? {} : { attachments };
  if (Buffer.byteLength(text) <= mostInlineBytes) return { text, ...given };
  const folder = mkdtempSync(path.join(spoolFolder(settings), 'chat-'));
  try {
    const file = path.join(folder, 'message.txt');
    writeFileSync(file, text, { mode: 0o600 });
    const uploaded = await upload(settings, file, 'text/plain');
    return { text: 'The message is long; it is in the file message.txt.', attachments: [...attachments, uploaded] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const readInput = (settings: CliSettings, { input, isLeftOpen }: PipedInput) =>
  readPiped(input, {
    folder: spoolFolder(settings),
    ...(isLeftOpen ? { patienceMs } : { slow: sayThatItWaits }),
  });

function spoolFolder({ dataDir }: CliSettings): string {
  const folder = path.dirname(dataPaths(dataDir).supervisorState);
  makePrivateDir(folder);
  return folder;
}

const sayThatItWaits = () =>
  printError('Reading the piped input … To send the message without it, end the command with: < /dev/null');

/** The upload code is loaded only when a file is uploaded. */
const upload = async (...given: Parameters<typeof uploadAttachment>): Promise<Attachment> =>
  (await import('./upload-attachment.ts')).uploadAttachment(...given);
