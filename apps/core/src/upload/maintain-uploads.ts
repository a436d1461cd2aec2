import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Uploads } from './uploads.ts';

const hourMs = 60 * 60_000;
/** What an earlier process left unfinished is completed soon, but does not delay the start. */
const firstMs = 3000;

type Deps = { uploads: Uploads; clock: Clock; log: Log };

/** Sweeps the staging folder soon, and then every hour. The returned function stops it. */
export function maintainUploads({ uploads, clock, log }: Deps): () => void {
  const sweep = () => {
    uploads.sweep().catch((error: unknown) => log.error({ err: error }, 'the upload area could not be swept'));
  };
  const cancelFirst = clock.after(firstMs, sweep);
  const cancel = clock.every(hourMs, sweep);
  return () => {
    cancelFirst();
    cancel();
  };
}
