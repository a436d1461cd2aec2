import type { Attachment } from '@svc/contract/envelope.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { findUpload } from '@svc/service-kit/upload-file.ts';

/**
 * Engines open the files that come with a message, so a path is only taken when it is a finished upload. One that was
 * removed meanwhile is let through; the model reads that it is missing.
 * @throws ServiceError `bad_request`.
 */
export function checkAttachments(attachments: readonly Attachment[] | undefined, uploads: string): void {
  for (const { path: file } of attachments ?? []) {
    const found = findUpload(uploads, file);
    if (found === 'outside' || found === 'not_a_file') {
      throw badRequest('An attachment is not a file of the upload area. Upload it first, then name its path.');
    }
  }
}
