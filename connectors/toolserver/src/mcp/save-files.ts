import type { Attachment, UploadsApi } from '@svc/connector-kit';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { SentFile } from './ask-input.ts';

/** Fetches what a file's address names, for a stranger. */
export type FetchFile = (url: string, options: { maxBytes: number; timeoutMs: number; signal: AbortSignal }) => Promise<Buffer>;

type Deps = { uploads: UploadsApi; fetchFile: FetchFile };
export type SaveFiles = (files: readonly SentFile[], conversationKey: string, signal: AbortSignal) => Promise<Attachment[]>;

const limits = { maxBytes: 10 * 1024 * 1024, timeoutMs: 30_000 } as const;

/** Puts the files of a question into the upload area. @throws ServiceError that names the file and what is wrong with it. */
export function createSaveFiles({ uploads, fetchFile }: Deps): SaveFiles {
  return async (files, conversationKey, signal) => {
    const saved: Attachment[] = [];
    for (const file of files) {
      const data = await bytesOf(file, fetchFile, signal);
      const { name, mime } = file;
      saved.push(await uploads.save({ name, data, conversation_key: conversationKey, ...(mime !== undefined && { mime }) }));
    }
    return saved;
  };
}

async function bytesOf({ name, data, text, url }: SentFile, fetchFile: FetchFile, signal: AbortSignal): Promise<Buffer> {
  if ([data, text, url].filter((part) => part !== undefined).length !== 1) {
    throw badRequest(`The attachment "${name}" needs exactly one of data, text and url.`);
  }
  if (url !== undefined) return fetchFile(url, { ...limits, signal });
  if (text !== undefined) return Buffer.from(text);
  const plain = (data ?? '').replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(plain)) throw badRequest(`The data of the attachment "${name}" is not valid base64.`);
  return Buffer.from(plain, 'base64');
}
