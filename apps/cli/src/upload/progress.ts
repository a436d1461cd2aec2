import { inUnits } from '@svc/service-kit/words.ts';

/** In bytes; `resumedAt` had been uploaded before. */
export type UploadProgress = { sent: number; size: number; resumedAt: number };

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/** On a terminal one line that is rewritten at most this often; elsewhere a new line for each tenth. */
const everyMs = 150;

export type ProgressLine = {
  show(progress: UploadProgress): void;
  /** Leaves the line as it is; further output starts below it. */
  end(): void;
};

export function createProgressLine(stream: Stream): ProgressLine {
  const startedAt = performance.now();
  let shownAt = -everyMs;
  let tenth = -1;
  return {
    show(progress) {
      const now = performance.now();
      const isLast = progress.sent === progress.size;
      const text = renderProgress(progress, now - startedAt);
      if (stream.isTTY) {
        if (now - shownAt < everyMs && !isLast) return;
        shownAt = now;
        stream.write(`\r\u001B[K${text}`);
        return;
      }
      const next = Math.floor(percentOf(progress) / 10);
      if (next === tenth) return;
      tenth = next;
      stream.write(`${text}\n`);
    },
    end() {
      if (stream.isTTY && shownAt >= 0) stream.write('\n');
    },
  };
}

/** `42 %  1.2 GiB of 2.9 GiB  85.0 MiB/s  20 s left`. */
export function renderProgress({ sent, size, resumedAt }: UploadProgress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? ((sent - resumedAt) / elapsedMs) * 1000 : 0;
  const left = rate > 0 ? `  ${inTime((size - sent) / rate)} left` : '';
  const speed = rate > 0 ? `  ${inUnits(rate)}/s` : '';
  return `${percentOf({ sent, size })} %  ${inUnits(sent)} of ${inUnits(size)}${speed}${sent < size ? left : ''}`;
}

/** An empty file is complete at once. */
const percentOf = ({ sent, size }: Pick<UploadProgress, 'sent' | 'size'>): number =>
  size === 0 ? 100 : Math.floor((100 * sent) / size);

function inTime(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 90 * 60 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
