import type { Envelope, Intake } from '@svc/contract/envelope.ts';
import type { LinkRequest } from '@svc/contract/link.ts';
import type { HandleResult, TurnProgress } from '@svc/contract/turn.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createDeliveryAcks } from './delivery-acks.ts';
import type { CallOptions, CoreApi, StartContext, StreamHandlers } from './connector.ts';
import { CoreError, toCoreError } from './core-error.ts';
import { createLinkSocket } from './core-link-socket.ts';
import { createFrameDelivery } from './frame-delivery.ts';
import { hasMessageId, lineOf, maxRequestLine, linkFaults, parseReply, type LinkCall } from './link-call.ts';

export type CoreLinkOptions = {
  socketPath: string;
  clock: Clock;
  log: StartContext['log'];
  /** Goes with every envelope. */
  intake?: Intake;
  /** Most calls in flight or waiting for the link; past it a call is refused as `queue_full`. */
  maxPending?: number;
  /** Most characters of calls that are not answered; short ones are not refused. */
  maxHeldChars?: number;
  /** 0 to 1, for the spread of reconnect times. */
  random?: () => number;
};

export type CoreLink = CoreApi & {
  /** Rejects every call that is open and stays closed. */
  close(): void;
};

/** How long a call waits for a link that is down, ms. */
const linkWaitMs = 10_000;
/** How long a message that was sent waits for a link that broke, ms. */
const breakWaitMs = 30_000;
/** A link that breaks sooner than this after it was made has not really been back, ms. */
const steadyMs = 10_000;
/** The core bounds a turn by the engine's silence; this only catches a core that forgot one. */
const turnLimitMs = 6 * 60 * 60_000;
const resolveLimitMs = 10_000;
const freeChars = 64 * 1024;
const maxError = 4_000;

/**
 * The connector's side of the link to the core: one unix socket for all turns, opened when the first call needs it and
 * again when it broke. A message with an id outlives a break: it is sent again, and the core knows it. No timer is held
 * while nothing is asked. Every rejection is a `CoreError`.
 */
export function createCoreLink(options: CoreLinkOptions): CoreLink {
  const { clock, log, intake, maxPending = 1024, maxHeldChars = 64 * 1024 * 1024 } = options;
  const calls = new Map<number, LinkCall>();
  const frames = createFrameDelivery(log);
  let serial = 0;
  let heldChars = 0;
  let openedAt = 0;
  let closed = false;

  const socket = createLinkSocket({
    path: options.socketPath,
    clock,
    log,
    random: options.random ?? Math.random,
    isNeeded: () => calls.size > 0 || deliveryAcks.areWaiting(),
    onOpen: takeUp,
    onLine: takeLine,
    onReadEnd: frames.flush,
    onBroken: takeBreak,
  });
  const deliveryAcks = createDeliveryAcks(socket.write, log);

  function open(request: LinkRequest, limitMs: number, handlers: StreamHandlers | null) {
    return new Promise<HandleResult | Identity>((settle, fail) => {
      if (closed) return fail(linkFaults.stopping(false));
      if (calls.size >= maxPending || socket.isClogged()) return fail(linkFaults.tooMany(calls.size));
      const line = JSON.stringify(request);
      if (line.length >= maxRequestLine) return fail(linkFaults.tooLong());
      if (line.length > freeChars && heldChars + line.length > maxHeldChars) return fail(linkFaults.tooMany(calls.size));
      heldChars += line.length;
      const call: LinkCall = {
        request,
        chars: line.length,
        line,
        sent: false,
        limitMs,
        handlers,
        shown: false,
        stale: false,
        brokenAt: null,
        settle,
        fail,
        cancelTimer: () => undefined,
      };
      calls.set(request.id, call);
      if (socket.isOpen()) return send(call);
      wait(call, linkWaitMs, linkFaults.unreachable);
      socket.open();
    });
  }

  function send(call: LinkCall): void {
    call.sent = true;
    wait(call, call.limitMs, linkFaults.overdue);
    socket.write(lineOf(call));
    call.line = null;
  }

  function wait(call: LinkCall, ms: number, fault: () => CoreError): void {
    call.cancelTimer();
    call.cancelTimer = clock.after(ms, () => end(call, fault()));
  }

  /** The link is there: what waits is sent, in the order it was asked. */
  function takeUp(): void {
    openedAt = clock.elapsed();
    deliveryAcks.flush();
    for (const call of calls.values()) if (!call.sent) send(call);
  }

  /** Takes one line of the core. False when it is not one of ours: the link cannot be trusted any more. */
  function takeLine(line: string): boolean {
    const reply = parseReply(line);
    if (reply === null) return false;
    const call = calls.get(reply.id);
    if (call === undefined) return true;
    if ('error' in reply) {
      end(call, toCoreError(reply.error));
      return true;
    }
    if (call.stale) withdraw(call);
    if ('frame' in reply) show(call, reply.frame);
    else end(call, 'result' in reply ? reply.result : reply.identity);
    return true;
  }

  function show(call: LinkCall, frame: TurnProgress): void {
    if (call.handlers === null) return;
    if (frame.type !== 'queued') call.shown = frame.type !== 'retract';
    frames.take(call.handlers, frame);
  }

  function withdraw(call: LinkCall): void {
    call.stale = false;
    if (call.handlers !== null) frames.take(call.handlers, { type: 'retract' });
  }

  function end(call: LinkCall, answer: HandleResult | Identity | CoreError): void {
    if (calls.delete(call.request.id)) heldChars -= call.chars;
    call.cancelTimer();
    if (answer instanceof CoreError) call.fail(answer);
    else call.settle(answer);
  }

  function takeBreak(): void {
    frames.flush();
    deliveryAcks.takeBreak();
    const now = clock.elapsed();
    const wasSteady = now - openedAt >= steadyMs;
    for (const call of calls.values()) {
      if (!call.sent) continue;
      if (hasMessageId(call)) keep(call, wasSteady || call.brokenAt === null ? now : call.brokenAt, now);
      else end(call, linkFaults.wentAway());
    }
  }

  /** Holds a call that was sent until the link is back. A link that comes and goes is one break, not many. */
  function keep(call: LinkCall, brokenAt: number, now: number): void {
    call.sent = false;
    call.brokenAt = brokenAt;
    call.stale ||= call.shown;
    call.shown = false;
    wait(call, Math.max(0, brokenAt + breakWaitMs - now), linkFaults.wentAway);
  }

  const toHandle = (envelope: Envelope, stream: boolean, call?: CallOptions): LinkRequest => ({
    op: 'handle',
    id: ++serial,
    stream,
    request_id: call?.requestId,
    confirm: call?.confirm,
    envelope: intake === undefined ? envelope : { ...envelope, intake },
  });

  // The casts: the core closes a `handle` with a result and a `resolve` with an identity (contract of the link).
  return {
    handle: (envelope, call) => open(toHandle(envelope, false, call), turnLimitMs, null) as Promise<HandleResult>,
    handleStream: (envelope, handlers, call) =>
      open(toHandle(envelope, true, call), turnLimitMs, handlers) as Promise<HandleResult>,
    resolve: (envelope) => open({ op: 'resolve', id: ++serial, envelope }, resolveLimitMs, null) as Promise<Identity>,
    delivered(turnId, error) {
      if (closed) return;
      const said: LinkRequest = { op: 'delivered', id: ++serial, turn_id: turnId, error: error?.slice(0, maxError) };
      deliveryAcks.add(JSON.stringify(said));
      if (socket.isOpen()) deliveryAcks.flush();
      else socket.open();
    },
    close() {
      closed = true;
      for (const call of calls.values()) end(call, linkFaults.stopping(call.line === null));
      socket.close();
    },
  };
}
