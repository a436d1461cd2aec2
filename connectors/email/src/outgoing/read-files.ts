import type { Readable } from 'node:stream';
import { errorText, ServiceError, type ReplyFile, type StartContext } from '@svc/connector-kit';
import type { MailFile } from './compose-mail.ts';

type Options = { uploads: Pick<StartContext['uploads'], 'open'>; maxBytes: number };

const mb = 1024 * 1024;

/**
 * Reads files of the upload area for one mail, up to a total size, because the mail is composed in memory. A file that is too large or gone
 * is replaced by a line of text. Rejects for temporary errors.
 */
export const createReadFiles =
  ({ uploads, maxBytes }: Options) =>
  async (files: readonly ReplyFile[]): Promise<{ files: MailFile[]; lines: string[] }> => {
    const read: MailFile[] = [];
    const lines: string[] = [];
    let left = maxBytes;
    for (const file of files) {
      const opened = await open(uploads, file);
      if (typeof opened === 'string') lines.push(`${file.name} ${opened}`);
      else if (opened.bytes > left) {
        opened.data?.destroy();
        lines.push(`${file.name} is left out: the files of a message may have at most ${Math.floor(maxBytes / mb)} MB together.`);
      } else {
        read.push({ name: file.name, mime: opened.mime, data: Buffer.concat(await opened.read()) });
        left -= opened.bytes;
      }
    }
    return { files: read, lines };
  };

type Opened = { bytes: number; mime: string; data?: Readable; read(): Promise<Uint8Array[]> };

async function open(uploads: Options['uploads'], { path, data, mime }: ReplyFile): Promise<Opened | string> {
  const usual = 'application/octet-stream';
  if (data !== undefined) return { bytes: data.length, mime: mime ?? usual, read: async () => [data] };
  try {
    const found = await uploads.open(path);
    return { bytes: found.bytes, mime: mime ?? found.mime, data: found.data, read: () => found.data.toArray() };
  } catch (error) {
    const isLost = error instanceof ServiceError && (error.code === 'not_found' || error.code === 'forbidden');
    if (!isLost) throw error;
    return `cannot be sent: ${errorText(error)}`;
  }
}
