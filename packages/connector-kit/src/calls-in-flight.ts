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

/** How long a call waits for a broken link, ms. */
const linkWaitMs = 10_000;
/** How long a sent message waits for a broken link to return, ms. */
const breakWaitMs = 30_000;
/** A link that breaks this soon after opening does not count as restored, ms. */
const steadyMs = 10_000;

/** The link and its open calls. */
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

/** Sends a request now, or as soon as the link is open. Resolves with the answer; rejects with a `CoreError`. */
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

/** Why no call is accepted at the moment; null when calls are accepted. */
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

/** The link is open: waiting requests are sent in their order. */
export function takeUp(link: Link): void {
  link.openedAt = link.clock.elapsed();
  link.deliveryAcks.flush();
  link.watches.takeUp();
  for (const call of link.calls.values()) if (!call.sent) send(link, call);
}

/** Handles one line from the core. False when it does not follow the protocol: the link can no longer be trusted. */
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

/**
 * An error of the core about the whole link, which it then closes. If it says `unauthorized`, connecting again would not help.
 */
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

/** Only once: after a broken link the core sends it again. */
function takeAcceptance(link: Link, call: LinkCall, turnId: string): void {
  const tell = call.onAccepted;
  call.onAccepted = null;
  createGuardedCall(link.log, 'onAccepted')(() => tell?.(turnId));
}

function withdraw({ frames }: Link, call: LinkCall): void {
  call.stale = false;
  if (call.handlers !== null) frames.take(call.handlers, { type: 'retract' });
}

/** A call ends, with or without an answer. */
export function end(link: Link, call: LinkCall, answer: LinkAnswer | CoreError): void {
  if (link.calls.delete(call.request.id)) link.heldChars -= call.chars;
  call.cancelTimer();
  if (answer instanceof CoreError) call.fail(answer);
  else call.settle(answer);
}

/** The link broke: messages with an id wait for the next link, other sent calls end with an error. */
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

/** Holds a sent call until the link is restored. A link that keeps failing counts as one break, not several. */
function keep(link: Link, call: LinkCall, brokenAt: number, now: number): void {
  call.sent = false;
  call.brokenAt = brokenAt;
  call.stale ||= call.shown;
  call.shown = false;
  wait(link, call, Math.max(0, brokenAt + breakWaitMs - now), linkFaults.wentAway);
}
