import { counted } from '@svc/service-kit/words.ts';
import { ServiceError, conflict } from '@svc/service-kit/service-error.ts';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import type { ChunkedUpload } from './chunked-upload.ts';
import type { Staging } from './staging.ts';
import { stored } from '../file/store-stream.ts';

const missingShown = 100;

/**
 * Checks that all chunks are stored and that the content matches its size and digest. Returns its sha256.
 * @throws ServiceError `conflict`, `unprocessable`.
 */
export async function verifyUpload(upload: ChunkedUpload, staging: Staging, sha256: string | null): Promise<string> {
  const { plan, id } = upload;
  const left = plan.chunks - upload.receivedCount;
  if (left > 0) {
    const missing = upload.missing(missingShown);
    throw conflict(
      `${left} of ${counted(plan.chunks, 'chunk')} ${left === 1 ? 'is' : 'are'} missing. Send what is missing, then finish again.`,
      {
        missing_count: left,
        missing,
      },
    );
  }
  const size = await staging.size(id);
  const digest = await stored(upload.digest());
  const wrong = [plan.sha256, sha256].find((expected) => expected !== null && expected !== digest);
  if (size === plan.size && wrong === undefined) return digest;
  upload.invalidate();
  throw new ServiceError(
    'unprocessable',
    size === plan.size
      ? 'The file does not match its sha256. Discard this upload and start over.'
      : `The file has ${counted(size, 'byte')} on the disk, not ${plan.size}. Discard this upload and start over.`,
    { details: { sha256: digest } },
  );
}

/** For a finished upload that is asked to finish again. @throws ServiceError `unprocessable` for a digest that differs from the file's. */
export function sameFile(file: ManifestEntry, sha256: string | null): ManifestEntry {
  if (sha256 === null || sha256 === file.sha256) return file;
  throw new ServiceError('unprocessable', 'This upload is finished, and its file does not match this sha256. Upload it again.', {
    details: { sha256: file.sha256 },
  });
}
