import { renderProgress } from './render-progress.ts';
import type { UploadProgress } from './upload-file.ts';

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/** In a terminal one line that changes, at most this often; elsewhere a new line for each tenth. */
const everyMs = 150;

export function createProgressLine(stream: Stream) {
  const startedAt = performance.now();
  let shownAt = -everyMs;
  let tenth = -1;
  return {
    show(progress: UploadProgress): void {
      const now = performance.now();
      const isLast = progress.sent === progress.size;
      const text = renderProgress(progress, now - startedAt);
      if (stream.isTTY) {
        if (now - shownAt < everyMs && !isLast) return;
        shownAt = now;
        stream.write(`\r\u001B[K${text}`);
        return;
      }
      const next = Math.floor((10 * progress.sent) / progress.size);
      if (next === tenth) return;
      tenth = next;
      stream.write(`${text}\n`);
    },
    /** The line is left as it is, and what follows begins below it. */
    end(): void {
      if (stream.isTTY && shownAt >= 0) stream.write('\n');
    },
  };
}
