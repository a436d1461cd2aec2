import path from 'node:path';
import { badRequest, forbidden } from '@svc/service-kit/service-error.ts';
import { findUpload } from '@svc/service-kit/upload-file.ts';

/**
 * The real path of a finished upload. Whatever lies elsewhere is `forbidden` without a word on whether it exists; what
 * is no file is a `bad_request`.
 */
export function checkUpload(file: string, uploads: string): string {
  const found = findUpload(uploads, file);
  if (typeof found === 'object') return found.path;
  switch (found) {
    case 'outside':
      throw forbidden('Only files of the upload area can be sent. Upload the file first, then name its path.');
    case 'missing':
      throw badRequest(`There is no file "${path.basename(file)}" in the upload area.`);
    case 'not_a_file':
      throw badRequest(`"${path.basename(file)}" is no file.`);
  }
}
