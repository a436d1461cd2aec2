import { noCall, type LinkReply, type LinkRequest } from '@svc/contract/link.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { StartContext, StreamHandlers } from './connector.ts';
import { CoreError, toCoreError } from './core-error.ts';
import type { LinkSocket } from './core-link-socket.ts';
import type { DeliveryAcks } from './delivery-acks.ts';
import type { FrameDelivery } from './frame-delivery.ts';
import { createGuardedCall } from './guarded-call.ts';
import {
  answerOf,
  hasMessageId,
  lineFault,
  lineOf,
  linkFaults,
  parseReply,
  type LinkAnswer,
  type LinkCall,
} from './link-call.ts';
import type { LinkWatches } from './link-watches.ts';

/** How long a call waits for a link that is down, ms. */
const linkWaitMs = 10_000;
/** How long a message that was sent waits for a link that broke, ms. */
const breakWaitMs = 30_000;
/** A link that breaks sooner than this after it was made has not really been back, ms. */
const steadyMs = 10_000;

/** The link, and what is open on it. */
export type Link = {
  clock: Clock;
  log: StartContext['log'];
  maxPending: number;
  maxHeldChars: number;
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

/** Sends a request, now or when the link is there. Settles with its answer; rejects with a `CoreError`. */
export function ask(
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
export function takeUp(link: Link): void {
  link.openedAt = link.clock.elapsed();
  link.deliveryAcks.flush();
  link.watches.takeUp();
  for (const call of link.calls.values()) if (!call.sent) send(link, call);
}

/** Takes one line of the core. False when it is not one of ours: the link cannot be trusted any more. */
export function takeLine(link: Link, line: string): boolean {
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
  link.log('error', 'the core is closing the link', { why: reply.error.message });
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
  createGuardedCall(link.log, 'onAccepted')(() => tell?.(turnId));
}

function withdraw({ frames }: Link, call: LinkCall): void {
  call.stale = false;
  if (call.handlers !== null) frames.take(call.handlers, { type: 'retract' });
}

/** A call is answered, or will not be. */
export function end(link: Link, call: LinkCall, answer: LinkAnswer | CoreError): void {
  if (link.calls.delete(call.request.id)) link.heldChars -= call.chars;
  call.cancelTimer();
  if (answer instanceof CoreError) call.fail(answer);
  else call.settle(answer);
}

/** The link broke: messages with an id wait for the next one, other calls that were sent end. */
export function takeBreak(link: Link): void {
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
