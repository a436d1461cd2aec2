import type { WebSocket } from 'ws';
import type { Clock } from '@svc/service-kit/clock.ts';
import { privilegedIntents, type BotProfile } from '../bot-profile.ts';
import {
  createSession,
  opcodes,
  serverOpcodes,
  type EventFaults,
  type GatewayEvent,
  type GatewaySession,
} from './gateway-session.ts';

export type GatewayLog = {
  what: 'connected' | 'identified' | 'resumed' | 'not resumed' | 'refused' | 'closed';
  bot?: string;
  /** The close code of a refusal, or of the client. */
  code?: number;
};

/** The first events of a session, except READY. */
export type FirstEvents = (session: GatewaySession) => GatewayEvent[];

export type GatewayParts = {
  bots: ReadonlyMap<string, BotProfile>;
  clock: Clock;
  note(fault: string): void;
  firstEvents: FirstEvents;
};

export type ConnectionParts = GatewayParts & {
  sessions: Map<string, GatewaySession>;
  log: GatewayLog[];
  heartbeatMs: number;
  eventFaults: EventFaults | null;
  /** Whether heartbeats are answered. */
  controls: { hasAcks: boolean };
};

type Payload = { op: number; d: unknown };
type Identify = { token: string; intents: number; properties?: object };
type Resume = { token: string; session_id: string; seq: number };

/** Close codes of the gateway. */
const closeCodes = {
  unknownOpcode: 4001,
  decodeError: 4002,
  notAuthenticated: 4003,
  authenticationFailed: 4004,
  alreadyAuthenticated: 4005,
  invalidSeq: 4007,
  timedOut: 4009,
  invalidVersion: 4012,
  invalidIntents: 4013,
  disallowedIntents: 4014,
};

const allIntents = 2 ** 26 - 1;
const listened: ReadonlySet<number> = new Set([opcodes.presence, opcodes.voiceState, serverOpcodes.requestMembers]);

/** Serves one client: hello, heartbeats, and the session that it identifies or resumes. */
export function serveConnection(socket: WebSocket, url: string, parts: ConnectionParts): void {
  const { sessions, log, clock, heartbeatMs, note } = parts;
  let session: GatewaySession | null = null;
  let heardAt = clock.elapsed();
  const send = (op: number, d: unknown): void => socket.send(JSON.stringify({ op, d }));
  const refuse = (code: number): void => {
    log.push({ what: 'refused', code });
    socket.close(code);
  };
  const begin = (own: GatewaySession): void => {
    session = own;
    own.socket = socket;
    own.lostAt = null;
  };

  log.push({ what: 'connected' });
  if (new URL(url, 'http://x').searchParams.get('v') !== '10') return refuse(closeCodes.invalidVersion);
  send(serverOpcodes.hello, { heartbeat_interval: heartbeatMs });
  const stop = clock.every(heartbeatMs, () => {
    if (clock.elapsed() - heardAt > 2 * heartbeatMs) refuse(closeCodes.timedOut);
  });

  socket.on('error', () => socket.terminate());
  socket.on('close', (code) => {
    stop();
    log.push({ what: 'closed', code, ...(session !== null && { bot: session.bot.user.username }) });
    if (session?.socket !== socket) return;
    session.socket = null;
    session.lostAt = clock.elapsed();
    // A client that closes with this code does not resume its session.
    if (code === 1000 || code === 1001) session.isOver = true;
  });
  socket.on('message', (data: Buffer) => {
    const payload = parsePayload(data);
    if (payload === null) return refuse(closeCodes.decodeError);
    const { op, d } = payload;
    if (op === opcodes.heartbeat) {
      heardAt = clock.elapsed();
      if (parts.controls.hasAcks) send(serverOpcodes.ack, null);
    } else if (op === opcodes.identify) identify(d as Identify);
    else if (op === opcodes.resume) resume(d as Resume);
    else if (!listened.has(op)) refuse(closeCodes.unknownOpcode);
    else if (session?.socket !== socket) refuse(closeCodes.notAuthenticated);
  });

  function identify({ token, intents, properties }: Identify): void {
    const bot = parts.bots.get(token);
    if (session?.socket === socket) return refuse(closeCodes.alreadyAuthenticated);
    if (bot === undefined) return refuse(closeCodes.authenticationFailed);
    if (!Number.isInteger(intents) || intents < 0 || intents > allIntents) return refuse(closeCodes.invalidIntents);
    if ((intents & privilegedIntents & ~bot.privileged) !== 0) return refuse(closeCodes.disallowedIntents);
    if (properties === undefined) note('identify without properties');
    const own = createSession({ id: sessionId(bot, sessions.size), bot, intents, socket }, clock, parts.eventFaults);
    sessions.set(own.id, own);
    begin(own);
    log.push({ what: 'identified', bot: bot.user.username });
    for (const event of parts.firstEvents(own)) own.send(event);
  }

  function resume({ token, session_id, seq }: Resume): void {
    const own = sessions.get(session_id);
    if (session?.socket === socket) return refuse(closeCodes.alreadyAuthenticated);
    if (parts.bots.get(token) === undefined) return refuse(closeCodes.authenticationFailed);
    if (session === null && !url.startsWith('/gateway/resume'))
      note('a session is resumed elsewhere than at its resume_gateway_url');
    const isKnown = own !== undefined && !own.isOver && own.bot.token === token;
    if (isKnown) {
      own.socket?.terminate();
      begin(own);
    }
    if (!isKnown || !own.replay(seq)) {
      log.push({ what: 'not resumed' });
      session = null;
      return send(serverOpcodes.invalidSession, false);
    }
    own.resumes++;
    log.push({ what: 'resumed', bot: own.bot.user.username });
    own.send({ type: 'RESUMED', place: '', data: {} });
  }
}

const sessionId = (bot: BotProfile, count: number): string => `${bot.user.id}-${count}-${Math.random().toString(16).slice(2)}`;

function parsePayload(data: Buffer): Payload | null {
  try {
    const payload = JSON.parse(data.toString('utf8')) as Payload;
    return typeof payload === 'object' && payload !== null ? payload : null;
  } catch {
    return null;
  }
}
