import type { Attachment } from '@svc/contract/envelope.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { coreUrl } from '../service-urls.ts';
import { createProgressLine } from '../upload/progress.ts';
import type { Resumable } from '../upload/resumable.ts';
import { createUploadClient } from '../upload/upload-client.ts';
import { uploadFile } from '../upload/upload-file.ts';

const parallel = 4;
/** An upload of an attachment is never resumed: it starts over. */
const neverResumed: Resumable = { find: () => null, keep: () => undefined, forget: () => undefined };

/** Uploads a file that is attached to a message. @throws CliError */
export async function uploadAttachment(
  settings: CliSettings,
  file: string,
  mime = 'application/octet-stream',
): Promise<Attachment> {
  const client = createUploadClient(coreUrl(settings), parallel);
  const line = createProgressLine(process.stderr);
  const onProgress = process.stderr.isTTY ? line.show : () => undefined;
  try {
    const {
      path: stored,
      name,
      mime: type,
      bytes,
    } = await uploadFile({
      client,
      resumable: neverResumed,
      file,
      mime,
      parallel,
      onProgress,
    });
    return { path: stored, name, mime: type, bytes };
  } finally {
    line.end();
    client.close();
  }
}
