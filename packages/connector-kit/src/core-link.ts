import type { Envelope } from '@svc/contract/envelope.ts';
import { maxLinkLine, type LinkReply, type LinkRequest } from '@svc/contract/link.ts';
import type { HandleResult, TurnProgress } from '@svc/contract/turn.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createLinkSocket } from './core-link-socket.ts';
import { CoreError, toCoreError } from './core-error.ts';
import { dispatchFrame } from './dispatch-frame.ts';
import type { CallOptions, CoreApi, StartContext, StreamHandlers } from './connector.ts';

export type CoreLinkOptions = {
  socketPath: string;
  clock: Clock;
  log: StartContext['log'];
  /** Most calls in flight or waiting for the link; past it a call is refused as `queue_full`. */
  maxPending?: number;
  /** 0 to 1, for the spread of reconnect times. */
  random?: () => number;
};

export type CoreLink = CoreApi & {
  /** Rejects every call that is open and stays closed. */
  close(): void;
};

/** How long a call waits for a link that is down, ms. */
const linkWaitMs = 2_000;
/** The core bounds a turn by the engine's silence; this only catches a core that forgot one. */
const turnLimitMs = 6 * 60 * 60_000;
const resolveLimitMs = 10_000;

type Call = {
  line: string;
  sent: boolean;
  limitMs: number;
  handlers: StreamHandlers | null;
  settle: (answer: HandleResult | Identity) => void;
  fail: (error: CoreError) => void;
  cancelTimer: () => void;
};

/**
 * The connector's side of the link to the core: one unix socket for all turns, opened when the first call needs it and
 * again when it broke. It holds no timer while nothing is asked. Every rejection is a `CoreError`.
 */
export function createCoreLink(options: CoreLinkOptions): CoreLink {
  const { clock, log, maxPending = 1024 } = options;
  const calls = new Map<number, Call>();
  const touched = new Set<StreamHandlers>();
  let serial = 0;
  let closed = false;

  const socket = createLinkSocket({
    path: options.socketPath,
    clock,
    log,
    random: options.random ?? Math.random,
    isNeeded: () => calls.size > 0,
    onOpen: sendWaiting,
    onLine: takeLine,
    onReadEnd: flushTouched,
    onBroken: failSent,
  });

  function open(id: number, request: LinkRequest, limitMs: number, handlers: StreamHandlers | null) {
    return new Promise<HandleResult | Identity>((settle, fail) => {
      if (closed) return fail(unavailable('This connector is stopping.', false));
      if (calls.size >= maxPending || socket.isClogged()) return fail(tooManyCalls(calls.size));
      const line = JSON.stringify(request);
      if (line.length >= maxLinkLine) return fail(tooLong());
      const call: Call = { line, sent: false, limitMs, handlers, settle, fail, cancelTimer: () => undefined };
      calls.set(id, call);
      if (socket.isOpen()) return send(id, call);
      call.cancelTimer = clock.after(linkWaitMs, () =>
        end(id, call, unavailable('The core cannot be reached. Check that the service is running, then try again.', false)),
      );
      socket.open();
    });
  }

  function send(id: number, call: Call): void {
    call.sent = true;
    call.cancelTimer();
    call.cancelTimer = clock.after(call.limitMs, () => end(id, call, unavailable('The core did not answer in time.', true)));
    socket.write(call.line);
    call.line = '';
  }

  function sendWaiting(): void {
    for (const [id, call] of calls) if (!call.sent) send(id, call);
  }

  /** Takes one line of the core. False when it is not one of ours: the link cannot be trusted any more. */
  function takeLine(line: string): boolean {
    const reply = parseReply(line);
    if (reply === null) return false;
    const call = calls.get(reply.id);
    if (call === undefined) return true;
    if ('frame' in reply) takeFrame(call.handlers, reply.frame);
    else if ('error' in reply) end(reply.id, call, toCoreError(reply.error));
    else end(reply.id, call, 'result' in reply ? reply.result : reply.identity);
    return true;
  }

  function takeFrame(handlers: StreamHandlers | null, frame: TurnProgress): void {
    if (handlers === null) return;
    if (handlers.onFlush !== undefined) touched.add(handlers);
    try {
      dispatchFrame(frame, handlers);
    } catch (error) {
      log('error', 'a stream handler threw', { error: errorText(error) });
    }
  }

  function flushTouched(): void {
    for (const handlers of touched) {
      try {
        handlers.onFlush?.();
      } catch (error) {
        log('error', 'a stream handler threw', { error: errorText(error) });
      }
    }
    touched.clear();
  }

  function end(id: number, call: Call, answer: HandleResult | Identity | CoreError): void {
    calls.delete(id);
    call.cancelTimer();
    if (answer instanceof CoreError) call.fail(answer);
    else call.settle(answer);
  }

  function failSent(): void {
    flushTouched();
    for (const [id, call] of calls) {
      if (call.sent)
        end(id, call, unavailable('The core went away during this turn. It may have run; look before you repeat it.', true));
    }
  }

  // The casts: the core closes a `handle` with a result and a `resolve` with an identity (contract of the link).
  return {
    handle(envelope, call?: CallOptions) {
      const id = ++serial;
      return open(id, toHandle(id, envelope, false, call), turnLimitMs, null) as Promise<HandleResult>;
    },
    handleStream(envelope, handlers, call?: CallOptions) {
      const id = ++serial;
      return open(id, toHandle(id, envelope, true, call), turnLimitMs, handlers) as Promise<HandleResult>;
    },
    resolve(envelope) {
      const id = ++serial;
      return open(id, { op: 'resolve', id, envelope }, resolveLimitMs, null) as Promise<Identity>;
    },
    close() {
      closed = true;
      for (const [id, call] of calls) end(id, call, unavailable('This connector is stopping.', call.sent));
      socket.close();
    },
  };
}

const toHandle = (id: number, envelope: Envelope, stream: boolean, call: CallOptions = {}): LinkRequest => ({
  op: 'handle',
  id,
  stream,
  ...(call.requestId === undefined ? {} : { request_id: call.requestId }),
  envelope,
});

/** Null for a line that is no reply. The core is ours, so only what a mix-up of versions could break is checked. */
function parseReply(line: string): LinkReply | null {
  let reply: unknown;
  try {
    reply = JSON.parse(line);
  } catch {
    return null;
  }
  const known =
    typeof reply === 'object' &&
    reply !== null &&
    'id' in reply &&
    typeof reply.id === 'number' &&
    ('frame' in reply || 'result' in reply || 'identity' in reply || 'error' in reply);
  return known ? (reply as LinkReply) : null;
}

const unavailable = (message: string, mayHaveRun: boolean) => new CoreError('unavailable', message, { mayHaveRun });
const tooLong = () =>
  new CoreError('too_large', 'This message is too long for the core. Shorten it or its transcript.', { mayHaveRun: false });
const tooManyCalls = (count: number) =>
  new CoreError('queue_full', `${count} turns of this connector are open already. Try again in a moment.`, {
    mayHaveRun: false,
    details: { retry_after_s: 1 },
  });
