import type { AmendResult } from '@svc/contract/amend.ts';
import type { Checkout } from '@svc/contract/checkout.ts';
import type { Envelope, Intake } from '@svc/contract/envelope.ts';
import { noCall, type LinkRequest } from '@svc/contract/link.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Answered } from '@svc/contract/ask.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ask, end, takeBreak, takeLine, takeUp, type Link } from './calls-in-flight.ts';
import { createDeliveryAcks } from './delivery-acks.ts';
import type { CallOptions, CoreApi, StartContext, StreamHandlers } from './connector.ts';
import { createLinkSocket } from './core-link-socket.ts';
import { createFrameDelivery } from './frame-delivery.ts';
import { createLinkWatches } from './link-watches.ts';
import { createSessionCalls } from './session-calls.ts';
import { linkFaults, turnLimitMs, type LinkCall } from './link-call.ts';

export type CoreLinkOptions = {
  socketPath: string;
  /** Token from the manager that shows the core whose link this is. */
  pass: string;
  clock: Clock;
  log: StartContext['log'];
  /** Sent with every envelope. */
  intake?: Intake;
  /** Maximum of calls in flight or waiting for the link; a further call is refused with `queue_full`. */
  maxPending?: number;
  /** Maximum of characters in unanswered calls; short calls are never refused because of it. */
  maxHeldChars?: number;
  /** A random number from 0 to 1, which spreads reconnects. */
  random?: () => number;
};

/**
 * The connector's side of the link to the core: one unix socket for all turns, opened for the first call and again after a break. A message
 * with an id survives a break: it is sent again, and the core recognizes it. An idle link holds no timer. Every rejection is a `CoreError`.
 */
export type CoreLink = CoreApi & {
  /** Rejects all open calls, and stays closed. */
  close(): void;
};

const resolveLimitMs = 10_000;
/** The core limits each step of a checkout; several callers may wait for one repository. */
const checkoutLimitMs = 15 * 60_000;
const answerLimitMs = 10_000;
const maxError = 4_000;

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

  // The casts: the link's contract says which answer closes each kind of call (a result, an identity, a chosen answer).
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
