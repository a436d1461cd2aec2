import type { LinkRequest, SessionRequest } from '@svc/contract/link.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ownsKey, type ConnectorPasses, type Peer } from '@svc/service-kit/connector-pass.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, forbidden, ServiceError } from '@svc/service-kit/service-error.ts';
import type { PendingAcks } from '../delivery/pending-acks.ts';
import type { Events } from '../events.ts';
import { isWithinReach } from '../watch/session-access.ts';
import { isSessionRequest } from './link-session-requests.ts';

type Deps = {
  passes: Pick<ConnectorPasses, 'check'>;
  pendingAcks: Pick<PendingAcks, 'keyOf'>;
  events: Pick<Events, 'impersonation'>;
  clock: Pick<Clock, 'elapsed'>;
  log: Pick<Log, 'error'>;
};

/** A connector that keeps requesting what is not its own is disconnected after this many requests. */
const maxForeign = 100;
/** Events and lines of the log about one instance, per minute. */
const maxReports = 10;

/** What a request names although it belongs to another instance. */
type Claim = { what: 'channel' | 'conversation' | 'turn'; name: string };

/** Restricts one link to the instance whose pass it began with. */
export type LinkPeer = {
  /** @throws ServiceError when the pass is invalid, or not the first one. */
  greet(pass: string): void;
  /**
   * Checks that a request concerns only the link's own instance, which it returns.
   * @throws ServiceError `unauthorized` before the pass was shown, `forbidden` when it asks in another's name.
   */
  check(request: Exclude<LinkRequest, { op: 'hello' }>): Peer;
  /** The instance of the link; null before it has shown its pass. */
  instanceId(): string | null;
  /** It has made so many requests in others' names that it gets no more answers. */
  isIncorrigible(): boolean;
};

/** Creates the guard of each link. Requests in another's name are reported, a limited number of times per instance and minute. */
export function createLinkPeers({ passes, pendingAcks, events, clock, log }: Deps): () => LinkPeer {
  const reports = createFixedWindow(clock, { max: maxReports, windowMs: 60_000 });

  const report = (peer: Peer, claim: Claim): void => {
    if (reports.count(peer.instanceId) > 0) return;
    const { type, instanceId: instance_id } = peer;
    log.error({ type, instance_id, claim }, `a connector asked in the name of another ${claim.what}; it was refused`);
    events.impersonation(peer, claim);
  };

  return () => {
    let peer: Peer | null = null;
    let foreign = 0;
    return {
      greet(pass) {
        if (peer !== null) throw badRequest('This link is already open. A link serves one instance only.');
        peer = passes.check(pass);
        if (peer === null) throw unknownPass();
      },
      check(request) {
        if (peer === null) throw noPass();
        const claim = foreignClaim(peer, request, pendingAcks);
        if (claim === null) return peer;
        foreign++;
        report(peer, claim);
        throw forbidden(
          `This link belongs to the ${peer.type} instance ${peer.instanceId}, not to the ${claim.what} "${claim.name}".`,
        );
      },
      instanceId: () => peer?.instanceId ?? null,
      isIncorrigible: () => foreign >= maxForeign,
    };
  };
}

function foreignClaim(
  peer: Peer,
  request: Exclude<LinkRequest, { op: 'hello' }>,
  pendingAcks: Pick<PendingAcks, 'keyOf'>,
): Claim | null {
  if (request.op === 'delivered') {
    const key = pendingAcks.keyOf(request.turn_id);
    return key === null || ownsKey(peer, key) ? null : { what: 'turn', name: request.turn_id };
  }
  if (request.op === 'checkout') {
    const { conversation_key: name } = request.checkout;
    return name === undefined || ownsKey(peer, name) ? null : { what: 'conversation', name };
  }
  if (request.op === 'unwatch') return null;
  if (isSessionRequest(request)) return foreignSession(peer, request);
  const { channel, conversation_key: key } = nameOf(request);
  if (channel !== peer.type) return { what: 'channel', name: channel };
  // A sender may be asked about before there is a conversation.
  const isNamed = request.op !== 'resolve' || key !== undefined;
  return isNamed && !ownsKey(peer, key ?? '') ? { what: 'conversation', name: key ?? '' } : null;
}

/** The channel and the conversation that a request names. */
const nameOf = (request: Extract<LinkRequest, { op: 'handle' | 'resolve' | 'answer' | 'amend' }>) =>
  request.op === 'answer' || request.op === 'amend'
    ? { channel: request.as.channel, conversation_key: request.conversation_key }
    : request.envelope;

/** A sender of another channel, or a conversation beyond reach. Whether the sender may see it is judged by `checkAccess`. */
function foreignSession(peer: Peer, request: SessionRequest): Claim | null {
  const { channel } = request.as;
  if (channel !== peer.type) return { what: 'channel', name: channel };
  if (request.op === 'sessions' || isWithinReach(peer, request.conversation_key)) return null;
  return { what: 'conversation', name: request.conversation_key };
}

const unknownPass = () =>
  new ServiceError('unauthorized', 'This pass was not issued by the manager of this installation. Restart the connector.');
const noPass = () =>
  new ServiceError(
    'unauthorized',
    'The first line of a link must be the pass that the manager gave the connector ({ "op": "hello", "pass": … }).',
  );
