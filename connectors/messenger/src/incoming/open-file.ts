import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { download } from '@svc/connector-kit/ingress/download.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { TelegramApi } from '../telegram-api.ts';

export type OpenFile = (fileId: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

type Deps = {
  api: Pick<TelegramApi, 'ask' | 'fileAddress'>;
  /** The files folder of a Bot API server on this machine; empty for none. */
  filesDir: string;
};

/** Opens files of messages: over the Bot API or, with a server on this machine, from its folder. */
export function createOpenFile({ api, filesDir }: Deps): OpenFile {
  return async (file_id, signal) => {
    const { file_path: place } = await api.ask('getFile', { file_id }, signal);
    if (place === undefined) throw refused('Telegram did not provide it');
    return path.isAbsolute(place) ? openLocal(place, filesDir) : download(api.fileAddress(place), 'Telegram', signal);
  };
}

/** The server names the file to read, so with links resolved it must be in the folder that the operator configured. */
async function openLocal(place: string, filesDir: string): Promise<AsyncIterable<Uint8Array>> {
  if (filesDir === '') throw refused('the Bot API server keeps it in its own folder; set api_files_dir to that folder');
  const [folder, file] = await Promise.all([realpath(filesDir), realpath(place)]).catch(() => {
    throw refused('it cannot be read at the place that the Bot API server names');
  });
  if (!file.startsWith(folder + path.sep) || !(await stat(file)).isFile())
    throw refused('the Bot API server names a place outside api_files_dir');
  return createReadStream(file);
}

const refused = (why: string) => new ServiceError('unprocessable', why);
