import type { IncomingMessage, Server } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** Limits how long the body of each request may take. Node's own limit applies to the whole server, and would cut off every long upload. */
export type BodyWatch = {
  /** Starts the watch, once the head of a request has arrived. */
  expect(req: IncomingMessage): void;
  /** Ends the watch: the route reads the body at its own pace. */
  release(req: IncomingMessage): void;
  /** The reply is finished: the rest of the body is read for a moment, so that the sender gets to see the reply. */
  discard(req: IncomingMessage): void;
  forget(req: IncomingMessage): void;
  /** True when more of the request must arrive before it can be answered. */
  isAwaited(req: IncomingMessage): boolean;
  stop(): void;
};

const bodyMs = 120_000;
const discardMs = 10_000;
const lookMs = 2_000;

export function createBodyWatch(server: Server, clock: Clock): BodyWatch {
  const deadlines = new Map<IncomingMessage, number>();
  const look = () => {
    const now = clock.elapsed();
    for (const [req, deadline] of deadlines) {
      if (req.complete || req.destroyed) deadlines.delete(req);
      else if (now >= deadline) cutOff(req);
    }
  };
  const cutOff = (req: IncomingMessage) => {
    deadlines.delete(req);
    // The event that Node itself emits, so that one place answers both.
    server.emit(
      'clientError',
      Object.assign(new Error('The body took too long.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      req.socket,
    );
  };
  return {
    expect(req) {
      const { headers } = req;
      if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
      deadlines.set(req, clock.elapsed() + bodyMs);
    },
    release: (req) => void deadlines.delete(req),
    discard(req) {
      if (req.complete || req.destroyed) return;
      deadlines.set(req, clock.elapsed() + discardMs);
      // `resume` alone has no effect while a reader waits for more data, and the rest would block the connection. The listener discards it.
      req.on('data', ignore).resume();
    },
    forget(req) {
      if (req.complete) deadlines.delete(req);
    },
    isAwaited: (req) => deadlines.has(req) && !req.complete,
    stop: clock.every(lookMs, look),
  };
}

const ignore = () => undefined;
