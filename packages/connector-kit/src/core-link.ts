import type { AmendResult } from '@svc/contract/amend.ts';
import type { Checkout } from '@svc/contract/checkout.ts';
import type { Envelope, Intake } from '@svc/contract/envelope.ts';
import { noCall, type LinkReply, type LinkRequest } from '@svc/contract/link.ts';
import type { HandleResult, TurnProgress } from '@svc/contract/turn.ts';
import type { Answered } from '@svc/contract/ask.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createDeliveryAcks, type DeliveryAcks } from './delivery-acks.ts';
import type { CallOptions, CoreApi, StartContext, StreamHandlers } from './connector.ts';
import { CoreError, toCoreError } from './core-error.ts';
import { createLinkSocket, type LinkSocket } from './core-link-socket.ts';
import { createFrameDelivery, type FrameDelivery } from './frame-delivery.ts';
import { createLinkWatches, type LinkWatches } from './link-watches.ts';
import { createSessionCalls } from './session-calls.ts';
import {
  answerOf,
  hasMessageId,
  lineFault,
  lineOf,
  linkFaults,
  parseReply,
  turnLimitMs,
  type LinkAnswer,
  type LinkCall,
} from './link-call.ts';

export type CoreLinkOptions = {
  socketPath: string;
  /** What the manager gave this process, so that the core knows whose link it is. */
  pass: string;
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

/**
 * The connector's side of the link to the core: one unix socket for all turns, opened when the first call needs it and
 * again when it broke. A message with an id outlives a break: it is sent again, and the core knows it. No timer is held
 * while nothing is asked. Every rejection is a `CoreError`.
 */
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
const resolveLimitMs = 10_000;
/** The core bounds its parts; several may be waiting for one repository. */
const checkoutLimitMs = 15 * 60_000;
const answerLimitMs = 10_000;
const maxError = 4_000;

type Link = Required<Pick<CoreLinkOptions, 'clock' | 'log' | 'maxPending' | 'maxHeldChars'>> & {
  socket: LinkSocket;
  frames: FrameDelivery;
  deliveryAcks: DeliveryAcks;
  watches: LinkWatches;
  /** Calls that are not answered, by id. */
  calls: Map<number, LinkCall>;
  heldChars: number;
  /** When the link was opened last, by `clock.elapsed`. */
  openedAt: number;
  isClosed: boolean;
};

export function createCoreLink(options: CoreLinkOptions): CoreLink {
  const { clock, log, intake, maxPending = 1024, maxHeldChars = 64 * 1024 * 1024 } = options;
  const frames = createFrameDelivery(log);
  const socket = createLinkSocket({
    path: options.socketPath,
    hello: JSON.stringify({ op: 'hello', id: noCall, pass: options.pass } satisfies LinkRequest),
    clock,
    log,
    random: options.random ?? Math.random,
    isNeeded: () => link.calls.size > 0 || link.deliveryAcks.areWaiting() || link.watches.areOpen(),
    onOpen: () => takeUp(link),
    onLine: (line) => takeLine(link, line),
    onReadEnd: frames.flush,
    onBroken: () => takeBreak(link),
  });
  const deliveryAcks = createDeliveryAcks(socket.write, log);
  let serial = 0;
  const nextId = () => ++serial;
  const watches = createLinkWatches({ socket, log, nextId });
  const state = { calls: new Map<number, LinkCall>(), heldChars: 0, openedAt: 0, isClosed: false };
  const link: Link = { clock, log, maxPending, maxHeldChars, socket, frames, deliveryAcks, watches, ...state };

  const toHandle = (envelope: Envelope, handlers: StreamHandlers | null, call?: CallOptions): LinkRequest => ({
    op: 'handle',
    id: nextId(),
    stream: handlers !== null,
    request_id: call?.requestId,
    confirm: call?.confirm,
    ...(call?.onAccepted !== undefined && { ack: true }),
    ...(handlers?.onAsk !== undefined && { asks: true }),
    ...(call?.again === true && { again: true }),
    envelope: intake === undefined ? envelope : { ...envelope, intake },
  });

  // The casts: the core closes a `handle` with a result, a `resolve` with an identity, an `answer` with what it has chosen (contract of the link).
  return {
    handle: (envelope, call) =>
      ask(link, toHandle(envelope, null, call), turnLimitMs, null, call?.onAccepted) as Promise<HandleResult>,
    handleStream: (envelope, handlers, call) =>
      ask(link, toHandle(envelope, handlers, call), turnLimitMs, handlers, call?.onAccepted) as Promise<HandleResult>,
    resolve: (envelope) => ask(link, { op: 'resolve', id: nextId(), envelope }, resolveLimitMs, null) as Promise<Identity>,
    checkout: (checkout) => ask(link, { op: 'checkout', id: nextId(), checkout }, checkoutLimitMs, null) as Promise<Checkout>,
    answer: (askId, answer) =>
      ask(link, { op: 'answer', id: nextId(), ask_id: askId, ...answer }, answerLimitMs, null) as Promise<Answered>,
    amend: (amendment) => ask(link, { op: 'amend', id: nextId(), ...amendment }, resolveLimitMs, null) as Promise<AmendResult>,
    delivered(turnId, error) {
      if (link.isClosed) return;
      const ack: LinkRequest = { op: 'delivered', id: nextId(), turn_id: turnId, error: error?.slice(0, maxError) };
      deliveryAcks.add(JSON.stringify(ack));
      if (socket.isOpen()) deliveryAcks.flush();
      else socket.open();
    },
    sessions: createSessionCalls({ ask: (request, limitMs) => ask(link, request, limitMs, null), watches, nextId }),
    close() {
      link.isClosed = true;
      for (const call of link.calls.values()) end(link, call, linkFaults.stopping(call.line === null));
      socket.close();
    },
  };
}

function ask(
  link: Link,
  request: LinkRequest,
  limitMs: number,
  handlers: StreamHandlers | null,
  onAccepted?: (turnId: string) => void,
) {
  return new Promise<LinkAnswer>((settle, fail) => {
    const refusal = refusalOf(link);
    if (refusal !== null) return fail(refusal);
    const line = JSON.stringify(request);
    const fault = lineFault(link, line);
    if (fault !== null) return fail(fault);
    link.heldChars += line.length;
    const call: LinkCall = {
      request,
      chars: line.length,
      line,
      sent: false,
      limitMs,
      handlers,
      onAccepted: onAccepted ?? null,
      shown: false,
      stale: false,
      brokenAt: null,
      settle,
      fail,
      cancelTimer: () => undefined,
    };
    link.calls.set(request.id, call);
    if (link.socket.isOpen()) return send(link, call);
    wait(link, call, linkWaitMs, linkFaults.unreachable);
    link.socket.open();
  });
}

/** Why no call is taken now; null when one is. */
function refusalOf({ socket, calls, maxPending, isClosed }: Link): CoreError | null {
  if (isClosed) return linkFaults.stopping(false);
  return calls.size >= maxPending || socket.isClogged() ? linkFaults.tooMany(calls.size) : null;
}

function send(link: Link, call: LinkCall): void {
  call.sent = true;
  wait(link, call, call.limitMs, linkFaults.overdue);
  link.socket.write(lineOf(call));
  call.line = null;
}

function wait(link: Link, call: LinkCall, ms: number, fault: () => CoreError): void {
  call.cancelTimer();
  call.cancelTimer = link.clock.after(ms, () => end(link, call, fault()));
}

/** The link is there: what waits is sent, in the order it was asked. */
function takeUp(link: Link): void {
  link.openedAt = link.clock.elapsed();
  link.deliveryAcks.flush();
  link.watches.takeUp();
  for (const call of link.calls.values()) if (!call.sent) send(link, call);
}

/** Takes one line of the core. False when it is not one of ours: the link cannot be trusted any more. */
function takeLine(link: Link, line: string): boolean {
  const reply = parseReply(line);
  if (reply === null) return false;
  if (reply.id === noCall) return takeRefusal(link, reply);
  if (link.watches.take(reply)) return true;
  const call = link.calls.get(reply.id);
  if (call === undefined) return true;
  if ('error' in reply) {
    end(link, call, toCoreError(reply.error));
    return true;
  }
  if ('accepted' in reply) {
    takeAcceptance(link, call, reply.accepted.turn_id);
    return true;
  }
  if (call.stale) withdraw(link, call);
  if ('frame' in reply) show(link, call, reply.frame);
  else if (!('seen' in reply)) end(link, call, answerOf(reply));
  return true;
}

/** What the core says of the link as a whole, before it closes it. One that does not let us in will not do so next time. */
function takeRefusal(link: Link, reply: LinkReply): boolean {
  if (!('error' in reply)) return false;
  link.log('error', 'the core closes the link', { why: reply.error.message });
  if (reply.error.error === 'unauthorized') {
    for (const call of link.calls.values()) end(link, call, toCoreError(reply.error));
    link.watches.fail(toCoreError(reply.error));
  }
  return true;
}

function show({ frames }: Link, call: LinkCall, frame: TurnProgress): void {
  if (call.handlers === null) return;
  if (frame.type !== 'queued') call.shown = frame.type !== 'retract';
  frames.take(call.handlers, frame);
}

/** Once: after a break the core says it again. */
function takeAcceptance(link: Link, call: LinkCall, turnId: string): void {
  const tell = call.onAccepted;
  call.onAccepted = null;
  try {
    tell?.(turnId);
  } catch (error) {
    link.log('error', 'onAccepted threw', { error: errorText(error) });
  }
}

function withdraw({ frames }: Link, call: LinkCall): void {
  call.stale = false;
  if (call.handlers !== null) frames.take(call.handlers, { type: 'retract' });
}

function end(link: Link, call: LinkCall, answer: LinkAnswer | CoreError): void {
  if (link.calls.delete(call.request.id)) link.heldChars -= call.chars;
  call.cancelTimer();
  if (answer instanceof CoreError) call.fail(answer);
  else call.settle(answer);
}

function takeBreak(link: Link): void {
  link.frames.flush();
  link.deliveryAcks.takeBreak();
  const now = link.clock.elapsed();
  const wasSteady = now - link.openedAt >= steadyMs;
  for (const call of link.calls.values()) {
    if (!call.sent) continue;
    if (hasMessageId(call)) keep(link, call, wasSteady || call.brokenAt === null ? now : call.brokenAt, now);
    else end(link, call, linkFaults.wentAway());
  }
}

/** Holds a call that was sent until the link is back. A link that comes and goes is one break, not many. */
function keep(link: Link, call: LinkCall, brokenAt: number, now: number): void {
  call.sent = false;
  call.brokenAt = brokenAt;
  call.stale ||= call.shown;
  call.shown = false;
  wait(link, call, Math.max(0, brokenAt + breakWaitMs - now), linkFaults.wentAway);
}
