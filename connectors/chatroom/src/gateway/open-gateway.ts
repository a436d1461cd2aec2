import type { REST } from '@discordjs/rest';
import { WebSocketManager, WebSocketShardEvents, type SessionInfo } from '@discordjs/ws';
import type { StartContext } from '@svc/connector-kit';
import { pause } from '@svc/connector-kit/retry.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { errorText, type ServiceError } from '@svc/service-kit/service-error.ts';
import type { GatewayDispatchPayload, GatewayReadyDispatchData, GatewaySendPayload } from 'discord-api-types/v10';
import { toDiscordFault } from '../incoming/discord-fault.ts';
import { finalFault, isOfNetwork } from './close-codes.ts';
import type { SessionRecord } from './session-record.ts';

export type GatewayOptions = Pick<StartContext, 'log' | 'signal'> & {
  token: string;
  rest: REST;
  intents: number;
  record: SessionRecord;
  /** Called for each event, with the session to which it belongs. */
  onEvent(payload: GatewayDispatchPayload, sessionId: string): void;
  /** A new session has begun: earlier events will not be delivered. */
  onNewSession(ready: GatewayReadyDispatchData): void;
  /** The session was resumed: the events in between are delivered. */
  onResumed(): void;
  /** Why no events arrive at the moment; null when they do again. */
  onProblem(problem: string | null): void;
  clock?: Clock;
};

export type Gateway = {
  /**
   * Resolves when the gateway is open, or cannot be opened at the moment, or after `withinMs`. Rejects when a person must act first; then
   * it is not retried.
   */
  opened(withinMs: number): Promise<void>;
  send(payload: GatewaySendPayload): Promise<void>;
  /** Resolves when the gateway is closed, after the signal has aborted. */
  closed: Promise<void>;
};

const shard = 0;
const backOff = { firstMs: 500, maxMs: 30_000, jitter: [1, 1.2] } as const;
/** Interval of retries when a person must act, ms. */
const finalAgainMs = 5 * 60_000;
/** After this many failed attempts, the session is given up: the server assigned to it may be gone. */
const maxResumes = 4;
/** Closing with this code keeps the session resumable; the default code does not. */
const keepSession = 4200;

/** Keeps a connection to the gateway until `signal` aborts. */
export function openGateway(options: GatewayOptions): Gateway {
  const { signal, log, onProblem, clock = systemClock } = options;
  const first = Promise.withResolvers<void>();
  first.promise.catch(() => undefined); // the caller may have stopped waiting
  let current: WebSocketManager | null = null;
  let isOpened = false;

  async function run(): Promise<void> {
    for (let tries = 1; !signal.aborted; tries++) {
      const connection = connect(options, clock, () => {
        tries = 0;
        isOpened = true;
        onProblem(null);
        first.resolve();
      });
      current = connection.manager;
      const fault = await connection.ended;
      current = null;
      if (signal.aborted) return;
      const isFinal = fault.code !== 'unavailable' && fault.code !== 'busy';
      if (isFinal && !isOpened) return first.reject(fault); // the connector cannot start without it
      first.resolve();
      log(isFinal ? 'error' : 'warn', 'the Discord gateway cannot be opened', { error: errorText(fault) });
      onProblem(errorText(fault));
      await pause(clock, isFinal ? finalAgainMs : backOffMs(backOff, tries), signal);
    }
  }

  return {
    async opened(withinMs) {
      const cancel = clock.after(withinMs, () => first.resolve());
      await first.promise.finally(cancel);
    },
    async send(payload) {
      await current?.send(shard, payload);
    },
    closed: run(),
  };
}

/** One manager, which reconnects as often as necessary. `ended` resolves, with the reason, when a new manager is needed. */
function connect(options: GatewayOptions, clock: Clock, onOpen: () => void) {
  const { token, rest, intents, record, log, signal, onEvent, onNewSession, onResumed, onProblem } = options;
  const ended = Promise.withResolvers<ServiceError>();
  /** The code that closed the last connection; null while one is open or was never tried. */
  let closedBy: number | null = null;
  let failures = 0;

  const manager = new WebSocketManager({
    token,
    rest,
    intents,
    shardCount: 1,
    /** Called for each connection and each event. */
    async retrieveSessionInfo() {
      if (closedBy !== null && failures > 1) await pause(clock, backOffMs(backOff, failures - 1), signal);
      if (signal.aborted) return new Promise<never>(() => undefined); // no further connection is wanted
      return record.current();
    },
    updateSessionInfo(_, session: SessionInfo | null) {
      const isKept =
        session === null && (signal.aborted || (closedBy !== null && isOfNetwork(closedBy) && failures < maxResumes));
      if (!isKept) record.change(session);
    },
  });

  manager.on(WebSocketShardEvents.Hello, () => void (closedBy = null));
  manager.on(WebSocketShardEvents.Closed, (code) => {
    closedBy = code;
    failures++;
    const fault = finalFault(code);
    if (fault !== null) return ended.resolve(fault);
    if (failures > 1) onProblem(`Discord closed the connection (${code}). Reconnecting.`);
    log('debug', 'the connection to Discord was closed', { code });
  });
  const open = (): void => {
    failures = 0;
    onOpen();
  };
  manager.on(WebSocketShardEvents.Ready, (ready) => {
    onNewSession(ready);
    open();
  });
  manager.on(WebSocketShardEvents.Resumed, () => {
    onResumed();
    open();
  });
  manager.on(WebSocketShardEvents.Dispatch, (payload) => {
    try {
      onEvent(payload, record.current()?.sessionId ?? '');
    } catch (error) {
      // An event that cannot be read must not end anything, whatever a server sends.
      log('error', 'a gateway event could not be read and was skipped', { event: payload.t, error: errorText(error) });
    }
  });
  manager.on(WebSocketShardEvents.SocketError, (error) =>
    log('debug', 'the connection to Discord failed', { error: errorText(error) }),
  );
  manager.on(WebSocketShardEvents.Error, (error) =>
    log('warn', 'the Discord gateway reported an error', { error: errorText(error) }),
  );
  manager.connect().catch((error: unknown) => ended.resolve(toDiscordFault(error)));
  const stop = (): void => {
    void (async () => manager.destroy({ code: keepSession, reason: 'stopping' }))()
      .catch((error: unknown) => log('debug', 'the gateway connection was not closed cleanly', { error: errorText(error) }))
      .finally(() => ended.resolve(toDiscordFault(signal.reason)));
  };
  signal.addEventListener('abort', stop, { once: true });
  return { manager, ended: ended.promise.finally(() => signal.removeEventListener('abort', stop)) };
}
