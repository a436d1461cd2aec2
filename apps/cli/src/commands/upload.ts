import path from 'node:path';
import type { DeletedUpload, ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { inUnits } from '@svc/service-kit/words.ts';
import { CliError, notRunning } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print, printError, visibleLine } from '../terminal.ts';
import { createProgressLine, type ProgressLine } from '../upload/progress.ts';
import { renderUploads } from '../upload/render-uploads.ts';
import { createResumable } from '../upload/resumable.ts';
import { createUploadClient } from '../upload/upload-client.ts';
import type { UploadRequest } from '../upload/upload-command.ts';
import { uploadFile } from '../upload/upload-file.ts';

type Of<Action> = Extract<UploadRequest, { action: Action }>;
type Page = { files: ManifestEntry[]; next: string | null };

/** Lists the upload area, sends files to it and deletes some. */
export async function upload(request: UploadRequest): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  switch (request.action) {
    case 'list':
      await list(settings, request);
      break;
    case 'add':
      await add(settings, request);
      break;
    case 'remove':
      await remove(settings, request);
  }
  return exitCodes.ok;
}

async function list(settings: CliSettings, { lines, before, json }: Of<'list'>): Promise<void> {
  const query = new URLSearchParams({ limit: String(lines), ...(before === undefined ? {} : { before }) });
  const page = await ask<Page>(`${coreUrl(settings)}/v2/uploads?${query.toString()}`, 'the files cannot be listed');
  if (json === true) print(JSON.stringify(page, null, 2));
  else if (page.files.length === 0 && before !== undefined) print(`No file is older than ${visibleLine(before)}.`);
  else print(renderUploads(page.files, page.next, createStyle(process.stdout)));
}

/** Sends the files one after the other, with progress; an interrupted upload resumes where it stopped. */
async function add(settings: CliSettings, { files, json, ...options }: Of<'add'>): Promise<void> {
  let line = createProgressLine(process.stderr);
  const stopped = () => {
    line.end();
    printError('Stopped. What has arrived is kept: run the same command to continue.');
    process.exit(130);
  };
  process.once('SIGINT', stopped);
  const sent: UploadedFile[] = [];
  try {
    for (const file of files) {
      line = createProgressLine(process.stderr);
      sent.push(await send(settings, { file, ...options }, line));
      if (json !== true) print(sentWords(sent.at(-1)!));
    }
  } finally {
    process.removeListener('SIGINT', stopped);
  }
  // One file is printed as an object, several as a list.
  if (json === true) print(JSON.stringify(files.length === 1 ? sent[0] : sent, null, 2));
}

const sentWords = ({ name, bytes, path: file }: UploadedFile): string =>
  `${createStyle(process.stdout).green('Uploaded')} ${name}, ${inUnits(bytes)}\n${file}`;

type Sending = { file: string; mime?: string; parallel: number };

async function send(settings: CliSettings, { file, mime, parallel }: Sending, line: ProgressLine): Promise<UploadedFile> {
  const client = createUploadClient(coreUrl(settings), parallel);
  const resumable = createResumable(path.join(dataPaths(settings.dataDir).run, 'uploads.json'));
  const work = { client, resumable, file, mime: mime ?? 'application/octet-stream', parallel, onProgress: line.show };
  try {
    return await uploadFile(work);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
    throw notRunning(error, { why: 'What has arrived is kept: run the same command to continue.' });
  } finally {
    line.end();
    client.close();
  }
}

async function remove(settings: CliSettings, { ids, json }: Of<'remove'>): Promise<void> {
  const removed: DeletedUpload[] = [];
  for (const id of ids) {
    const url = `${coreUrl(settings)}/v2/uploads/${encodeURIComponent(id)}`;
    removed.push(await ask<DeletedUpload>(url, `${id} was not deleted`, 'DELETE'));
    if (json !== true) print(removedWords(removed.at(-1)!));
  }
  if (json === true) print(JSON.stringify(ids.length === 1 ? removed[0] : removed, null, 2));
}

const removedWords = ({ file, kept_by_conversations }: DeletedUpload): string =>
  `Deleted ${file.name}.${kept_by_conversations ? ' A conversation that it was sent to keeps it until it is forgotten.' : ''}`;

/** The reason comes from the core; `what` failed is ours. */
async function ask<T>(url: string, what: string, method?: 'DELETE'): Promise<T> {
  const answer = await askCore<T>(url, { method });
  if (answer.ok) return answer.body;
  throw new CliError(`${what}.`, { why: answer.body.message, run: './svc upload' });
}
