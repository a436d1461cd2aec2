import { write, writeSync } from 'node:fs';

/** Where log lines go. Writing never waits and never throws. */
export type LineSink = {
  write(line: string): void;
  /** Hands over what is still here; takes six tenths of a second at most. */
  flushSync(): void;
};

const maxPending = 4 * 1024 * 1024;
const retryMs = 20;
const maxTries = 25;
/** How long what the system is writing at the end is given before the rest follows, so that lines neither mix nor change places, ms. */
const handOverMs = 100;

/**
 * Writes lines to a file descriptor, one write for all that came while the last one ran. A reader that is gone ends the
 * writing for good: nothing may keep a process from ending after its parent was killed. A reader that does not read
 * costs 4 MiB, then lines are dropped.
 */
export function createLineSink(fd: number): LineSink {
  let pending = '';
  /** Handed to the system and not yet taken; `null` when nothing is. */
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
      // What the system has already is on its way and is not written twice. Its end cannot be seen from here: a reader that reads has it by then.
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
