import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { BotProfile } from '../bot-profile.ts';
import { serveConnection, type GatewayLog, type GatewayParts } from './serve-connection.ts';
import { opcodes, serverOpcodes, type EventFaults, type GatewaySession } from './gateway-session.ts';

export type GatewayOptions = {
  heartbeatMs?: number;
  /** How long a session without a connection can be resumed. */
  resumeMs?: number;
  eventFaults?: EventFaults | null;
};

/** An event, its recipients, and its form for each of them. */
export type Dispatched = {
  type: string;
  place: string;
  /** The bot must have one of these intents; 0 for events without an intent. */
  intents: number;
  to(bot: BotProfile): boolean;
  data(session: Pick<GatewaySession, 'bot' | 'intents'>): object;
};

/** A test's control of the gateway's connections; of all bots unless one is given. */
export type GatewayControls = {
  /** Cuts the connections, as a network does. */
  drop(bot?: BotProfile): void;
  /** Asks the clients to reconnect and resume. */
  askToReconnect(bot?: BotProfile): void;
  invalidate(isResumable: boolean, bot?: BotProfile): void;
  close(code: number, bot?: BotProfile): void;
  /** Refuses this many connections before it accepts one again. */
  refuseNext(count: number): void;
  /** Whether heartbeats are answered. */
  hasAcks: boolean;
  /** The requests of clients and their answers, in order. */
  log: readonly GatewayLog[];
  isConnected(bot?: BotProfile): boolean;
};

export type Gateway = {
  controls: GatewayControls;
  dispatch(event: Dispatched): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
};

export function createGateway(parts: GatewayParts, options: GatewayOptions): Gateway {
  const { heartbeatMs = 41_250, resumeMs = 120_000, eventFaults = null } = options;
  const webSockets = new WebSocketServer({ noServer: true });
  const sessions = new Map<string, GatewaySession>();
  const log: GatewayLog[] = [];
  let refused = 0;
  const connected = (bot?: BotProfile): { session: GatewaySession; socket: WebSocket }[] =>
    [...sessions.values()].flatMap((session) =>
      session.socket === null || (bot !== undefined && session.bot !== bot) ? [] : [{ session, socket: session.socket }],
    );

  const controls: GatewayControls = {
    drop: (bot) => connected(bot).forEach(({ socket }) => socket.terminate()),
    askToReconnect: (bot) =>
      connected(bot).forEach(({ socket }) => socket.send(JSON.stringify({ op: opcodes.reconnect, d: null }))),
    invalidate(isResumable, bot) {
      for (const { session, socket } of connected(bot)) {
        session.isOver ||= !isResumable;
        // The connection stays open without a session until one is resumed or identified.
        Object.assign(session, { socket: null, lostAt: parts.clock.elapsed() });
        socket.send(JSON.stringify({ op: serverOpcodes.invalidSession, d: isResumable }));
      }
    },
    close: (code, bot) => connected(bot).forEach(({ socket }) => socket.close(code)),
    refuseNext: (count) => void (refused = count),
    hasAcks: true,
    log,
    isConnected: (bot) => connected(bot).length > 0,
  };

  return {
    controls,
    dispatch(event) {
      for (const session of sessions.values()) {
        const isLost = session.lostAt !== null && parts.clock.elapsed() - session.lostAt > resumeMs;
        if (isLost) session.isOver = true;
        if (session.isOver) {
          if (session.socket === null) sessions.delete(session.id);
          continue;
        }
        if (event.intents !== 0 && (session.intents & event.intents) === 0) continue;
        if (!event.to(session.bot)) continue;
        session.send({ type: event.type, place: event.place, data: event.data(session) });
      }
    },
    upgrade(request, socket, head) {
      if (refused > 0) {
        refused--;
        return void socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
      }
      webSockets.handleUpgrade(request, socket, head, (opened) =>
        serveConnection(opened, request.url ?? '', { ...parts, sessions, log, heartbeatMs, eventFaults, controls }),
      );
    },
    close() {
      for (const client of webSockets.clients) client.terminate();
      webSockets.close();
    },
  };
}
