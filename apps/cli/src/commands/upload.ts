import path from 'node:path';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, printError } from '../terminal.ts';
import { createProgressLine, inUnits } from '../upload/progress.ts';
import { createResumable } from '../upload/resumable.ts';
import { createUploadClient } from '../upload/upload-client.ts';
import { uploadFile } from '../upload/upload-file.ts';

export type UploadOptions = { mime?: string; parallel: number; json?: boolean };

/** Sends a file to the upload area, with progress; one that was stopped goes on where it was. */
export async function upload(file: string, options: UploadOptions): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const { parallel } = options;
  const client = createUploadClient(coreUrl(settings), parallel);
  const line = createProgressLine(process.stderr);
  const stopped = () => {
    line.end();
    printError('Stopped. What has arrived is kept: the same command goes on.');
    process.exit(130);
  };
  process.once('SIGINT', stopped);
  try {
    const resumable = createResumable(path.join(settings.dataDir, 'run', 'uploads.json'));
    const mime = options.mime ?? 'application/octet-stream';
    const sent = await uploadFile({ client, resumable, file, mime, parallel, onProgress: line.show });
    line.end();
    if (options.json === true) print(JSON.stringify(sent, null, 2));
    else print(`${createStyle(process.stdout).green('Uploaded')} ${sent.name}, ${inUnits(sent.bytes)}\n${sent.path}`);
    return exitCodes.ok;
  } catch (error) {
    line.end();
    throw (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
      ? new CliError('the service is not running.', {
          why: 'What has arrived is kept: the same command goes on.',
          run: './svc up',
          cause: error,
        })
      : error;
  } finally {
    process.removeListener('SIGINT', stopped);
    client.close();
  }
}
