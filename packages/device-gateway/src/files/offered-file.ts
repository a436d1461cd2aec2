import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { notFound, ServiceError, type Exchange } from '@svc/connector-kit';
import { fileDigest } from '@svc/connector-kit/file-digest.ts';
import { sendStream } from '../http/send-stream.ts';

/** The present version of a file that the operator offers to devices. */
export type FileFacts = { sha256: string; bytes: number };

/** A file with a fixed path. It may be replaced while devices download it: each download is of one whole version. */
export type OfferedFile = {
  /** @throws ServiceError `not_found` when none is configured, or the file is missing */
  facts(): Promise<FileFacts>;
  /** Sends the content. @throws ServiceError as `facts` */
  send(exchange: Exchange, type: string): Promise<void>;
};

/** `file` is empty when the operator offers none. `what`: its name in messages. */
export function createOfferedFile(file: string, what: string): OfferedFile {
  let known: { version: string; sha256: string } | null = null;

  async function withFile<T>(use: (handle: FileHandle, facts: FileFacts) => Promise<T>): Promise<T> {
    const handle = await openFile(file, what);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw notFound(what, path.basename(file));
      const version = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
      if (known?.version !== version) known = { version, sha256: await fileDigest(handle, stats.size, 'hex') };
      return await use(handle, { sha256: known.sha256, bytes: stats.size });
    } finally {
      await handle.close();
    }
  }

  return {
    facts: () => withFile(async (_handle, facts) => facts),
    send: ({ req, res, requestId }, type) =>
      withFile(async (handle, { sha256, bytes }) => {
        const headers = {
          'content-type': type,
          'content-length': bytes,
          'content-disposition': `attachment; filename="${path.basename(file).replaceAll(/[^\w.-]/g, '_')}"`,
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-cache',
          etag: `"${sha256}"`,
          'x-request-id': requestId,
        };
        if (req.headers['if-none-match'] === headers.etag) return void res.writeHead(304, { etag: headers.etag }).end();
        if (req.method === 'HEAD' || bytes === 0) return void res.writeHead(200, headers).end();
        res.writeHead(200, headers);
        await sendStream({ res }, handle.createReadStream({ start: 0, end: bytes - 1, autoClose: false }));
      }),
  };
}

async function openFile(file: string, what: string): Promise<FileHandle> {
  if (file === '') throw new ServiceError('not_found', `The operator offers no ${what}.`);
  try {
    return await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') throw error;
    throw notFound(what, path.basename(file));
  }
}
