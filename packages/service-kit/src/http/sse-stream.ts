import type { ServerResponse } from '../builtin.ts';
import type { Clock } from '../clock.ts';

export type SseStream = {
  send(frame: string): void;
  /** Frames that many readers get: one buffer for all, and it goes out at once. */
  sendShared(frames: Buffer): void;
  /** True when there is room for more; false when the reader is gone. One that makes no room for `withinMs` is dropped. */
  drained(withinMs: number): Promise<boolean>;
  close(): void;
  /** Aborts when the reader is gone or has stopped reading. */
  readonly signal: AbortSignal;
};

export type SseOptions = {
  requestId: string;
  clock: Clock;
  /** Something was written: for those who bound what all replies of a server hold. */
  wrote?(raw: ServerResponse): void;
};

const maxBufferedBytes = 1024 * 1024;
const keepAliveMs = 15_000;

/**
 * Makes a reply an event stream. Frames of one tick go out in one write; a reader who has left more than 1 MiB unread when
 * more comes is dropped, so a stalled client costs a bounded amount of memory.
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
    // A frame may be longer than that by itself: what counts is what was unread before.
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
  // A reader that does not read costs no more than a reference to what all readers share: no write, and no copy.
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
  // Its `close` was before this; who opens the stream listens by the end of this tick.
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

/** Readers that stopped together fall behind together: they are dropped a few at a time, and nobody else waits for it. */
function dropSoon(raw: ServerResponse): void {
  if (dropping.push(raw) === 1) setImmediate(dropSome);
}

function dropSome(): void {
  for (const raw of dropping.splice(0, droppedAtOnce)) raw.destroy();
  if (dropping.length > 0) setImmediate(dropSome);
}
