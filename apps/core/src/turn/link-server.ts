import { createServer, type Socket } from 'node:net';
import { noCall, type LinkReply, type LinkRequest, type SessionRequest } from '@svc/contract/link.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { freePart } from '@svc/service-kit/intake/byte-blocks.ts';
import { createUnreadReplies, type UnreadReplies } from '@svc/service-kit/http/unread-replies.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { descriptorLimit } from '@svc/service-kit/process/descriptor-limit.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { createOrderedWriter } from '@svc/service-kit/redaction/ordered-writer.ts';
import { resolveSpeaker } from '@svc/service-kit/resolve-speaker.ts';
import { badRequest, forbidden, type ServiceError } from '@svc/service-kit/service-error.ts';
import { createAtOnce, type AtOnce } from '@svc/service-kit/at-once.ts';
import { answerAsk } from '../ask/answer-ask.ts';
import type { OpenAsks } from '../ask/open-asks.ts';
import type { Checkouts } from '../checkout/checkouts.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { Events } from '../events.ts';
import { createLinkIntake, type LinkIntake } from './link-lines.ts';
import { deliver, takeAck } from './link-acks.ts';
import { createLinkPeers, type LinkPeer } from './link-peer.ts';
import { parseLine, parseLongLine, type ParsedLine } from './link-requests.ts';
import { isSessionRequest } from './link-session-requests.ts';
import { createLinkSessions, type LinkSessionDeps, type LinkSessions } from './link-sessions.ts';
import { createLinkRoom } from './link-room.ts';
import { listenOnSocket } from './link-socket.ts';
import { createLinkWriter } from './link-writer.ts';
import type { Pipeline } from './pipeline.ts';
import type { Caller } from './turn.ts';

type Deps = LinkSessionDeps & {
  pipeline: Pick<Pipeline, 'handle' | 'amend' | 'isClosed' | 'pendingAcks'>;
  trust: Pick<TrustService, 'resolve'>;
  asks: OpenAsks;
  checkouts: Pick<Checkouts, 'obtain'>;
  knownSecrets: Pick<KnownSecrets, 'mask'>;
  connectorPasses: Pick<ConnectorPasses, 'check'>;
  events: Pick<Events, 'impersonation' | 'conversationForgotten'>;
  clock: Clock;
  ids: Ids;
  log: Log;
};

export type LinkServer = {
  /** Why no connector can connect; null while they can. */
  fault(): string | null;
  close(): Promise<void>;
};

/** How long a connector may take to end its side of the link. */
const goodbyeMs = 500;

/**
 * The entry for connectors: a unix socket with JSON lines (`contract/link.ts`), which leads to the same function as
 * `POST /v2/handle`. A connector that disconnects ends no turn.
 */
export async function openLinkServer(deps: Deps, socketPath: string): Promise<LinkServer> {
  const sockets = new Set<Socket>();
  const { connectorPasses: passes, pipeline } = deps;
  const openPeer = createLinkPeers({ ...deps, passes, pendingAcks: pipeline.pendingAcks });
  const shared = { intake: createLinkIntake(deps.clock), unread: createUnreadReplies(), openPeer };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(deps, socket, shared);
  });
  // HTTP may use half of the file descriptors; the rest is for files and the process's own requests.
  server.maxConnections = Math.min(maxLinks, Math.floor(descriptorLimit() / 4));
  const listening = await listenOnSocket(server, socketPath, deps);
  return {
    fault: listening.fault,
    async close() {
      listening.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) {
        socket.end();
        setTimeout(() => socket.destroy(), goodbyeMs).unref();
      }
      await closed;
    },
  };
}

const maxLinks = 512;
/** Null when it was written at once, else a promise that it is. */
type Send = (reply: LinkReply) => Promise<void> | null;

/** Shared by all links. */
type Shared = { intake: LinkIntake; unread: UnreadReplies; openPeer: () => LinkPeer };

/** A link that sends this many lines that are not requests is closed: its program does not follow the contract. */
const maxStrayLines = 1000;

/** One connector's link: where its answers go, and the replies that it has not acknowledged yet. */
type Link = {
  /** Opens the answer to one line; what is sent by it stays in order. */
  open: () => Send;
  isGone: () => boolean;
  acks: Set<string>;
  peer: LinkPeer;
  sessions: LinkSessions;
  /** Limits the short calls that have no queue of their own. */
  shortCalls: AtOnce;
  /** Closes the link with a reason. */
  refuse: (why: ServiceError) => void;
  /** Counts a line that cannot be answered. */
  strayed: () => void;
};

function serve(deps: Deps, socket: Socket, { intake, unread, openPeer }: Shared): void {
  let isRefused = false;
  let strayLines = 0;
  const refuse = (why: ServiceError) => {
    if (isRefused) return;
    isRefused = true;
    lines.close();
    deps.log.error({ err: why }, 'a connector link is closed');
    socket.removeAllListeners('data').pause();
    void link.open()({ id: noCall, error: why.toBody(deps.ids.next('req')) });
    setImmediate(() => socket.destroySoon());
  };
  const write = createLinkWriter(socket, unread);
  const onFault = (error: unknown) => {
    deps.log.error({ err: error }, 'an answer over a connector link could not be masked');
    socket.destroy();
  };
  const link: Link = {
    open() {
      const ordered = createOrderedWriter(deps.knownSecrets.mask, onFault);
      return (reply) => ordered(reply, (json) => write(json, 'result' in reply));
    },
    isGone: () => socket.destroyed,
    acks: new Set(),
    peer: openPeer(),
    sessions: createLinkSessions(deps, {
      link: createLinkRoom(socket, deps.clock),
      write: (json) => write(json, false),
      send: (reply) => link.open()(reply),
      refuse: (id, why) => void link.open()({ id, error: why.toBody(deps.ids.next('req')) }),
      isGone: () => socket.destroyed,
    }),
    shortCalls: createAtOnce(maxShortCalls, 'calls of this link'),
    refuse,
    strayed() {
      deps.log.error('a connector sent a line that is not a request; it cannot be answered');
      if (++strayLines === maxStrayLines) refuse(badRequest(`${maxStrayLines} lines of this link were not requests.`));
    },
  };
  const lines = intake.open({
    onLine: (line, isText) => void answer(deps, parseLine(line, isText), link),
    onLongLine: async (line) => void answer(deps, await parseLongLine(line), link),
    onRefused: refuse,
  });
  socket.on('data', (chunk) => {
    const taken = lines.push(chunk);
    if (taken === null) return freePart(chunk);
    socket.pause();
    void taken.then(() => {
      freePart(chunk);
      if (!isRefused) socket.resume();
    });
  });
  socket.on('error', (error) => deps.log.warn({ err: error }, 'a connector link broke'));
  socket.on('close', () => {
    lines.close();
    link.sessions.close();
    for (const turnId of link.acks) deps.pipeline.pendingAcks.abandoned(turnId);
  });
}

async function answer(deps: Deps, request: ParsedLine, link: Link): Promise<void> {
  const { id } = request;
  if (id === null) return link.strayed();
  const requestId = request.requestId ?? deps.ids.next('req');
  if (request.value?.op === 'hello') return greet(link, request.value.pass);
  const send = link.open();
  try {
    if (request.value === null) throw badRequest(`The request is not valid: ${request.problems}.`);
    const peer = link.peer.check(request.value);
    const { value } = request;
    const work = () =>
      isSessionRequest(value)
        ? link.sessions.serve(peer, value, requestId)
        : serveRequest(deps, value, requestId, { link, send });
    await (shortCalls.has(value.op) ? link.shortCalls(peer.instanceId, work) : work());
  } catch (error) {
    // A turn that a stopping service leaves open is not answered: its connector sends it again when the service is back.
    if (deps.pipeline.isClosed()) return;
    const known = toServiceError(error);
    if (known.status >= 500) deps.log.error({ err: error, request_id: requestId }, 'turn failed');
    void send({ id, error: known.toBody(requestId) });
    if (known.code === 'unauthorized') link.refuse(known);
    else if (link.peer.isIncorrigible()) link.refuse(forbidden('This link keeps making requests in the name of others.'));
  }
}

const maxShortCalls = 256;
const shortCalls: ReadonlySet<LinkRequest['op']> = new Set(['answer', 'resolve', 'abort', 'forget']);

function greet(link: Link, pass: string): void {
  try {
    link.peer.greet(pass);
  } catch (error) {
    link.refuse(toServiceError(error));
  }
}

async function serveRequest(
  deps: Deps,
  request: Exclude<LinkRequest, { op: 'hello' } | SessionRequest>,
  requestId: string,
  { link, send }: { link: Link; send: Send },
): Promise<void> {
  const { id } = request;
  if (request.op === 'unwatch') return link.sessions.unwatch(request.watch);
  if (request.op === 'delivered') return takeAck(deps.pipeline, link, request);
  if (request.op === 'answer') return void send({ id, answered: await answerAsk(deps, request.ask_id, request) });
  if (request.op === 'resolve') {
    const { conversation_key, public: isPublic = false } = request.envelope;
    const place = { conversation_key, public: isPublic, instance_id: link.peer.instanceId() ?? undefined };
    return void send({ id, identity: await resolveSpeaker(deps.trust, request.envelope, place) });
  }
  if (request.op === 'checkout')
    return void send({ id, checkout: await deps.checkouts.obtain(request.checkout, link.peer.instanceId()) });
  if (request.op === 'amend') return void send({ id, amended: await deps.pipeline.amend(request, requestId) });
  const caller: Caller = {
    sink: request.stream ? (frame) => void send({ id, frame }) : null,
    isGone: link.isGone,
    isAgain: request.again,
    showsAsks: request.asks,
    ...(request.ack === true && { onAccepted: (turnId: string) => void send({ id, accepted: { turn_id: turnId } }) }),
  };
  const handled = await deps.pipeline.handle(request.envelope, caller, requestId);
  const sending = send({ id, result: handled });
  if (sending !== null) await sending;
  await deliver(deps.pipeline, link, handled, request.confirm === true);
}
