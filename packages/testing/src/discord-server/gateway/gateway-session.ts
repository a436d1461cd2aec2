import type { WebSocket } from 'ws';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Snowflake } from '../api-types.ts';
import type { BotProfile } from '../bot-profile.ts';

export const opcodes = { dispatch: 0, heartbeat: 1, identify: 2, presence: 3, voiceState: 4, resume: 6, reconnect: 7 } as const;
export const serverOpcodes = { requestMembers: 8, invalidSession: 9, hello: 10, ack: 11 } as const;

export type GatewayEvent = {
  type: string;
  /** The place of the event: events of the same place always keep their order. */
  place: Snowflake;
  data: object;
};

/** Disturbs events at random: some come twice, some after those of other channels. */
export type EventFaults = { random: () => number; twice: number; outOfOrder: number };

/** An identified session of a client. Without a connection its events wait until it is resumed. */
export type GatewaySession = {
  id: string;
  bot: BotProfile;
  intents: number;
  socket: WebSocket | null;
  resumes: number;
  isOver: boolean;
  /** When it lost its connection, by the monotonic clock; null while it is connected. */
  lostAt: number | null;
  send(event: GatewayEvent): void;
  /** Replays the events after a sequence number; false when they are not available. */
  replay(after: number): boolean;
};

type Sent = { op: 0; t: string; s: number; d: object };

const mostKept = 2000;
const heldMs = 30;

export function createSession(
  { id, bot, intents, socket }: Pick<GatewaySession, 'id' | 'bot' | 'intents' | 'socket'>,
  clock: Clock,
  faults: EventFaults | null,
): GatewaySession {
  const kept: Sent[] = [];
  let last = 0;
  let held: GatewayEvent | null = null;

  const put = ({ type, data }: GatewayEvent): void => {
    const sent: Sent = { op: opcodes.dispatch, t: type, s: ++last, d: data };
    kept.push(sent);
    if (kept.length > mostKept) kept.shift();
    session.socket?.send(JSON.stringify(sent));
  };
  const release = (): void => {
    const event = held;
    held = null;
    if (event !== null) put(event);
  };
  const hold = (event: GatewayEvent): void => {
    held = event;
    clock.after(heldMs, () => held === event && release());
  };

  const session: GatewaySession = {
    id,
    bot,
    intents,
    socket,
    resumes: 0,
    isOver: false,
    lostAt: null,
    send(event) {
      if (faults === null || !/^(?:MESSAGE|INTERACTION)_/.test(event.type)) return put(event);
      if (held?.place === event.place) release();
      if (held === null && faults.random() < faults.outOfOrder) return hold(event);
      put(event);
      release();
      if (faults.random() < faults.twice) clock.after(heldMs, () => put(event));
    },
    replay(after) {
      const first = kept[0]?.s ?? 1;
      if (after > last || after < first - 1) return false;
      for (const sent of kept.filter(({ s }) => s > after)) session.socket?.send(JSON.stringify(sent));
      return true;
    },
  };
  return session;
}
