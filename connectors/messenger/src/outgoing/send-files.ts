import { errorText, ServiceError, type Place, type ReplyAlbums, type ReplyFile, type StartContext } from '@svc/connector-kit';
import { InputFile } from 'grammy';
import type { BotCall } from './bot-call.ts';
import { chatOf } from './chat-place.ts';
import type { SentMessages } from './sent-messages.ts';
import { isPhotoRefusal } from './to-fault.ts';
import { maxCaption, toMessages } from './to-messages.ts';
import type { WriteParams } from './write-params.ts';

const mb = 1024 * 1024;
const maxPhotoBytes = 10 * mb;
/** Telegram's maximum number of files in one album. */
const mostTogether = 10;

export type SendFilesDeps = {
  call: BotCall;
  uploads: Pick<StartContext['uploads'], 'open'>;
  write: WriteParams;
  sent: SentMessages;
  /** A larger file is not sent; its name is shown instead. 50 MB on Telegram's own servers. */
  maxFileBytes: number;
};

type FilePost = Place & { answers?: string };
type SentMessage = { message_id: number };
type Kind = 'photo' | 'document';
/** A file that can be sent, and its kind. `close` stops reading it. */
type Ready = { file: ReplyFile; kind: Kind; input: InputFile; close(): void };

/** Sends files: pictures as pictures, several as an album, and a line of text for one that cannot be sent. */
export function createFileSender({ call: ask, uploads, write, sent, maxFileBytes }: SendFilesDeps) {
  const call = async (method: string, target: FilePost, params: Readonly<Record<string, unknown>>): Promise<void> => {
    const done = await ask<SentMessage | SentMessage[]>(method, { ...write(target), ...params }, target.signal);
    await sent.note(
      chatOf(target.chat),
      [done].flat().map(({ message_id }) => message_id),
      null,
    );
  };

  /** The reason, for a file that cannot be sent. */
  async function prepare(file: ReplyFile): Promise<Ready | string> {
    const { name, path, data } = file;
    if (data !== undefined) return { file, kind: 'document', input: new InputFile(data, name), close: () => undefined };
    const found = await look(path);
    if (typeof found === 'string') return found;
    if (found.bytes === 0) return 'is empty.';
    if (found.bytes > maxFileBytes) return `is larger than the ${Math.floor(maxFileBytes / mb)} MB that Telegram accepts.`;
    const end = new AbortController();
    const read = async () => {
      const { data: bytes } = await uploads.open(path);
      end.signal.addEventListener('abort', () => void bytes.destroy(), { once: true });
      // Only an iterator: the library would fetch an object with a URL, as an HTTP answer has.
      return bytes.iterator();
    };
    const isPhoto = isPicture({ mime: found.mime, ...file }) && found.bytes <= maxPhotoBytes;
    return { file, kind: isPhoto ? 'photo' : 'document', input: new InputFile(read, name), close: () => end.abort() };
  }

  /** Opened only when it is sent, because not all ten files of an album can be open at once. */
  async function look(path: string): Promise<{ bytes: number; mime: string } | string> {
    try {
      const { data, bytes, mime } = await uploads.open(path);
      data.destroy();
      return { bytes, mime };
    } catch (error) {
      const isLost = error instanceof ServiceError && (error.code === 'not_found' || error.code === 'forbidden');
      if (!isLost) throw error;
      return `cannot be sent: ${errorText(error)}`;
    }
  }

  const postNotice = (target: FilePost, { name }: ReplyFile, why: string) =>
    call('sendMessage', target, { text: `📎 ${name} ${why}` });

  function post(target: FilePost, ready: readonly Ready[], kind: Kind): Promise<unknown> {
    const [{ file, input }] = ready as [Ready];
    if (ready.length > 1) {
      const media = ready.map((each) => ({ type: kind, media: each.input, ...captionOf(each.file) }));
      return call('sendMediaGroup', target, { media });
    }
    return call(kind === 'photo' ? 'sendPhoto' : 'sendDocument', target, { [kind]: input, ...captionOf(file) });
  }

  /** `isPlain`: as documents, whatever they are. */
  async function send(target: FilePost, files: readonly ReplyFile[], isPlain = false): Promise<unknown> {
    const ready: Ready[] = [];
    try {
      for (const file of files) {
        const each = await prepare(file);
        if (typeof each === 'string') await postNotice(target, file, each);
        else ready.push(each);
      }
      if (ready.length === 0) return undefined;
      const kind = !isPlain && ready.every((each) => each.kind === 'photo') ? 'photo' : 'document';
      return await post(target, ready, kind).catch((error: unknown) => {
        if (kind === 'document' || !isPhotoRefusal(error)) throw error;
        return send(
          target,
          ready.map((each) => each.file),
          true,
        );
      });
    } finally {
      for (const each of ready) each.close();
    }
  }

  const albums: ReplyAlbums = { countsEach: true, group: groupFiles, post: ({ files, ...target }) => send(target, files) };
  return { file: (file: FilePost & ReplyFile) => send(file, [file]), albums };
}

const isPicture = ({ mime = '', kind }: Pick<ReplyFile, 'mime' | 'kind'>): boolean =>
  kind !== 'document' && /^image\/(jpeg|png|webp)$/.test(mime);

/** Groups pictures with pictures and files with files, up to ten. */
function groupFiles(files: readonly ReplyFile[]): ReplyFile[][] {
  const groups: ReplyFile[][] = [];
  for (const file of files) {
    const last = groups.at(-1);
    const isFitting = last !== undefined && last.length < mostTogether && isPicture(last[0]!) === isPicture(file);
    if (isFitting) last.push(file);
    else groups.push([file]);
  }
  return groups;
}

/** The caption, cut to Telegram's limit. */
function captionOf({ caption }: ReplyFile): object {
  const [first] = caption === undefined ? [] : toMessages(caption, maxCaption);
  return first === undefined ? {} : { caption: first.text, caption_entities: first.entities };
}
