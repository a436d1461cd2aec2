import type { ServerResponse } from '../builtin.ts';
import type { Clock } from '../clock.ts';

export type SseStream = {
  send(frame: string): void;
  /** Sends frames for many readers, in one buffer that they share, at once. */
  sendShared(frames: Buffer): void;
  /** True when there is room for more; false when the reader is gone. A reader without room for `withinMs` is dropped. */
  drained(withinMs: number): Promise<boolean>;
  close(): void;
  /** Aborts when the reader is gone or has stopped reading. */
  readonly signal: AbortSignal;
};

export type SseOptions = {
  requestId: string;
  clock: Clock;
  /** Called after each write, so that the unread bytes of all replies can be limited. */
  wrote?(raw: ServerResponse): void;
};

const maxBufferedBytes = 1024 * 1024;
const keepAliveMs = 15_000;

/**
 * Makes a reply an event stream. Frames of one tick are sent in one write. A reader with more than 1 MiB unread at the next
 * write is dropped, so a stalled client costs a limited amount of memory.
 */
export function openSseStream(raw: ServerResponse, { requestId, clock, wrote }: SseOptions): SseStream {
  const gone = new AbortController();
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
  });
  let pending = '';
  let scheduled = false;
  const flush = () => {
    scheduled = false;
    const frames = pending;
    pending = '';
    if (frames !== '' && !raw.destroyed) write(frames);
  };
  const write = (frames: string | Buffer) => {
    // A single frame may be longer than the limit, so only what was unread before counts.
    if (raw.writableLength > maxBufferedBytes) return void raw.destroy();
    raw.write(frames);
    wrote?.(raw);
  };
  const send = (frame: string) => {
    pending += frame;
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(flush);
  };
  // A reader that does not read costs only a reference to the shared buffers, no writes and no copies.
  let backlog: Buffer[] = [];
  let backlogBytes = 0;
  let isDropped = false;
  const drop = () => {
    isDropped = true;
    backlog = [];
    dropSoon(raw);
  };
  raw.on('drain', () => {
    while (backlog.length > 0 && !raw.writableNeedDrain && !raw.destroyed) {
      const frames = backlog.shift()!;
      backlogBytes -= frames.length;
      write(frames);
    }
  });
  const stopKeepAlive = clock.every(keepAliveMs, () => send(': keep-alive\n\n'));
  const end = () => {
    stopKeepAlive();
    gone.abort();
  };
  raw.on('close', end);
  raw.on('error', () => gone.abort());
  raw.flushHeaders();
  // Its `close` event was before this; the caller has its listeners in place by the end of this tick.
  if (raw.destroyed) setImmediate(end);
  return {
    send,
    sendShared(frames) {
      flush();
      if (raw.destroyed || isDropped) return;
      if (backlog.length === 0 && !raw.writableNeedDrain) return write(frames);
      backlog.push(frames);
      backlogBytes += frames.length;
      if (backlogBytes > maxBufferedBytes) drop();
    },
    drained(withinMs) {
      flush();
      return waitForDrain(raw, gone.signal, clock, withinMs);
    },
    close() {
      flush();
      raw.end();
    },
    signal: gone.signal,
  };
}

function waitForDrain(raw: ServerResponse, gone: AbortSignal, clock: Clock, withinMs: number): Promise<boolean> {
  if (gone.aborted || raw.destroyed) return Promise.resolve(false);
  if (!raw.writableNeedDrain) return Promise.resolve(true);
  return new Promise((resolve) => {
    const settle = (hasRoom: boolean) => {
      cancel();
      raw.off('drain', onDrain);
      gone.removeEventListener('abort', onGone);
      resolve(hasRoom);
    };
    const onDrain = () => settle(true);
    const onGone = () => settle(false);
    const cancel = clock.after(withinMs, () => raw.destroy());
    raw.once('drain', onDrain);
    gone.addEventListener('abort', onGone);
  });
}

const dropping: ServerResponse[] = [];
const droppedAtOnce = 20;

/** Many readers may have to be dropped at once. This is done a few at a time, so that others need not wait. */
function dropSoon(raw: ServerResponse): void {
  if (dropping.push(raw) === 1) setImmediate(dropSome);
}

function dropSome(): void {
  for (const raw of dropping.splice(0, droppedAtOnce)) raw.destroy();
  if (dropping.length > 0) setImmediate(dropSome);
}
