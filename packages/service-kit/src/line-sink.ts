import { write, writeSync } from 'node:fs';

/** Where log lines go. Writing never waits and never throws. */
export type LineSink = {
  write(line: string): void;
  /** Writes what is still pending, within 0.6 seconds. */
  flushSync(): void;
};

const maxPending = 4 * 1024 * 1024;
const retryMs = 20;
const maxTries = 25;
/** How long to wait at the end for a write in progress before the rest is written, so that lines neither mix nor swap, ms. */
const handOverMs = 100;

/**
 * Writes lines to a file descriptor; lines that arrive during a write are written together. When the reader is gone, writing
 * stops for good, because it must not keep a process alive whose parent was killed. For a reader that does not read, 4 MiB
 * are buffered, then lines are dropped.
 */
export function createLineSink(fd: number): LineSink {
  let pending = '';
  /** The bytes of the write in progress, or null. */
  let current: Buffer | null = null;
  let isSystemWriting = false;
  let isGone = false;

  const writeOn = () => {
    if (current === null) return;
    isSystemWriting = true;
    write(fd, current, 0, current.length, null, onWritten);
  };
  const onWritten = (error: NodeJS.ErrnoException | null, count: number) => {
    isSystemWriting = false;
    if (error !== null) {
      if (isBusy(error)) setTimeout(writeOn, retryMs).unref();
      else isGone = true;
      return;
    }
    current = current !== null && count < current.length ? current.subarray(count) : null;
    if (current === null) takePending();
    writeOn();
  };
  const takePending = () => {
    if (pending === '') return;
    current = Buffer.from(pending);
    pending = '';
  };

  return {
    write(line) {
      if (isGone || pending.length > maxPending) return;
      pending += line;
      if (current !== null) return;
      takePending();
      writeOn();
    },
    flushSync() {
      if (isGone) return;
      // A write in progress must not be repeated. Its end cannot be observed here, but an active reader has the bytes after this pause.
      if (isSystemWriting) sleep(handOverMs);
      const rest = Buffer.concat([isSystemWriting || current === null ? Buffer.alloc(0) : current, Buffer.from(pending)]);
      pending = '';
      if (!isSystemWriting) current = null;
      isGone = !writeAll(fd, rest);
    },
  };
}

function writeAll(fd: number, bytes: Buffer): boolean {
  let rest = bytes;
  for (let tries = 0; rest.length > 0 && tries < maxTries;) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!isBusy(error)) return false;
      tries++;
      sleep(retryMs);
    }
  }
  return true;
}

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const isBusy = (error: unknown): boolean => ['EAGAIN', 'EBUSY', 'EINTR'].includes((error as NodeJS.ErrnoException).code ?? '');
