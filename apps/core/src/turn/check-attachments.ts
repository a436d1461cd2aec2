import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Attachment } from '@svc/contract/envelope.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

/**
 * Engines open the files that come with a message, so a path is only taken when it lies in the upload area, links
 * followed. A file that is gone by now is let through: the engine says so.
 * @throws ServiceError `bad_request`.
 */
export function checkAttachments(attachments: readonly Attachment[] | undefined, uploads: string): void {
  if (attachments === undefined || attachments.length === 0) return;
  const area = realPath(uploads) ?? uploads;
  for (const { path: file } of attachments) {
    const isInside = path.isAbsolute(file) && lies(file, uploads) && lies(realPath(file) ?? file, uploads, area);
    if (!isInside) throw badRequest('An attachment is not a file of the upload area. Upload it first, then name its path.');
  }
}

const lies = (file: string, ...folders: string[]): boolean =>
  folders.some((folder) => path.normalize(file).startsWith(folder + path.sep));

function realPath(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    return null; // it does not exist, or leads nowhere
  }
}
