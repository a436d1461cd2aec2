import type { Clock } from '@svc/service-kit/clock.ts';
import { chooseConnection, onceOver, type Exchange } from './exchange.ts';

export type SseWriter = {
  /** Opens the stream if necessary. Frames of one tick are sent in one write. */
  send(frame: string): void;
  end(): void;
  /** True once anything was written: from then on, an error can only be sent as a frame. */
  isOpen(): boolean;
};

const maxBufferedBytes = 1024 * 1024;
const keepAliveMs = 15_000;

/**
 * An event stream that opens with its first frame, so that until then the reply can still be an error. A quiet stream gets a comment every
 * 15 s, which also opens it. A reader that leaves more than 1 MiB unread is cut off.
 */
export function createSseWriter(exchange: Exchange, clock: Clock): SseWriter {
  const { res, requestId } = exchange;
  let pending = '';
  let isQuiet = true;
  const stopKeepAlive = clock.every(keepAliveMs, () => {
    if (isQuiet) send(': keep-alive\n\n');
    isQuiet = true;
  });
  onceOver(exchange, stopKeepAlive);

  function send(frame: string): void {
    if (res.destroyed) return;
    isQuiet = false;
    if (!res.headersSent) open();
    if (pending === '') queueMicrotask(flush);
    pending += frame;
  }

  function open(): void {
    chooseConnection(exchange);
    res.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': requestId,
    });
  }

  function flush(): void {
    const text = pending;
    pending = '';
    if (text === '' || res.destroyed || res.writableEnded) return;
    // Checked before the write: a single long answer may exceed the limit, a reader that takes nothing may not.
    if (res.writableLength > maxBufferedBytes) res.destroy();
    else res.write(text);
  }

  return {
    send,
    end() {
      stopKeepAlive();
      const text = pending;
      pending = '';
      if (!res.destroyed) res.end(text);
    },
    isOpen: () => res.headersSent,
  };
}
