import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { RawFile } from '@discordjs/rest';
import { errorText, ServiceError, type Place, type ReplyAlbums, type ReplyFile, type StartContext } from '@svc/connector-kit';
import { createLane } from '@svc/service-kit/lane.ts';
import { toMessages } from './to-messages.ts';
import type { WriteMessage } from './write-message.ts';

const mib = 1024 * 1024;
/** Discord's maximum number of files in one message. */
const mostTogether = 10;
/** Maximum bytes of a message, which is held in memory. */
const mostBytes = 24 * mib;

export type SendFilesDeps = {
  uploads: Pick<StartContext['uploads'], 'open'>;
  write: WriteMessage;
  /** A larger file is not sent; its name is shown instead. */
  maxFileBytes: number;
};

type FilePost = Place & { nonce: string; answers?: string };
/** A file that can be sent, or the reason why it cannot. */
type Ready = { file: ReplyFile; raw: RawFile; bytes: number };

/** Sends files: several as one message, and a line of text for one that cannot be sent. */
export function createFileSender({ uploads, write, maxFileBytes }: SendFilesDeps) {
  const lane = createLane(1);

  async function read(file: ReplyFile): Promise<Ready | string> {
    const { name, path, data, mime } = file;
    if (data !== undefined) return { file, raw: toRaw(name, data, mime), bytes: data.byteLength };
    try {
      const { data: body, bytes, mime: found } = await uploads.open(path);
      if (bytes > 0 && bytes <= maxFileBytes) return { file, raw: toRaw(name, await buffer(body), mime ?? found), bytes };
      body.destroy();
      return bytes === 0 ? 'is empty.' : `is larger than the ${Math.floor(maxFileBytes / mib)} MiB that Discord accepts.`;
    } catch (error) {
      const isLost = error instanceof ServiceError && (error.code === 'not_found' || error.code === 'forbidden');
      if (!isLost) throw error;
      return `cannot be sent: ${errorText(error)}`;
    }
  }

  const postNotice = (to: FilePost, { name }: ReplyFile, why: string) =>
    write({ ...to, fields: { content: `📎 ${cleanName(name)} ${why}` } });

  /** Files that are too large, together or alone, are not retried in the same form. */
  async function post(to: FilePost, ready: readonly Ready[]): Promise<void> {
    const [first] = ready;
    if (first === undefined) return;
    const caption = ready.flatMap(({ file }) => (file.caption === undefined ? [] : [file.caption])).join('\n\n');
    const [content] = toMessages(caption);
    try {
      await write({ ...to, files: ready.map(({ raw }) => raw), fields: content === undefined ? {} : { content } });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'too_large') throw error;
      if (ready.length === 1)
        return void (await postNotice(part(to, 'words'), first.file, 'is larger than Discord accepts here.'));
      for (const [index, each] of ready.entries()) await post(part(to, `alone ${index}`), [each]);
    }
  }

  /** Sends as many at once as may be held in memory. */
  async function send(to: FilePost, files: readonly ReplyFile[]): Promise<void> {
    let ready: Ready[] = [];
    let posts = 0;
    const next = (): FilePost => (posts++ === 0 ? to : part(to, String(posts)));
    for (const file of files) {
      const each = await read(file);
      if (typeof each === 'string') {
        await postNotice(next(), file, each);
        continue;
      }
      if (ready.reduce((sum, { bytes }) => sum + bytes, each.bytes) > mostBytes) {
        await post(next(), ready);
        ready = [];
      }
      ready.push(each);
    }
    if (ready.length > 0) await post(next(), ready);
  }

  const inLane = (to: FilePost, files: readonly ReplyFile[]): Promise<void> =>
    lane(() => {
      to.signal.throwIfAborted();
      return send(to, files);
    });
  const albums: ReplyAlbums = { group: groupFiles, post: ({ files, ...to }) => inLane(to, files) };
  return { file: (file: FilePost & ReplyFile) => inLane(file, [file]), albums };
}

/** A further message of the same step, with its own nonce. */
const part = (to: FilePost, name: string): FilePost => ({
  ...to,
  nonce: hash('sha256', `${to.nonce} ${name}`, 'base64url').slice(0, 24),
});

const toRaw = (name: string, data: Uint8Array, contentType: string | undefined): RawFile => ({
  name: cleanName(name),
  data: Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  ...(contentType !== undefined && { contentType }),
});

const cleanName = (name: string): string =>
  name
    .toWellFormed()
    .replaceAll(/[\p{Cc}/\\]/gu, '_')
    .slice(0, 200) || 'file';

function groupFiles(files: readonly ReplyFile[]): ReplyFile[][] {
  const groups: ReplyFile[][] = [];
  for (let from = 0; from < files.length; from += mostTogether) groups.push(files.slice(from, from + mostTogether));
  return groups;
}
