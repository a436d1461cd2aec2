import type { StartContext } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { GatewayDispatchEvents, type GatewayDispatchPayload, type GatewayReadyDispatchData } from 'discord-api-types/v10';
import type { SessionRecord } from '../gateway/session-record.ts';
import { readMissed, type BackfillDeps, type Missed } from './backfill.ts';
import { createEventQueue, type EventQueue } from './event-queue.ts';
import { readEvent, timeOf, type ChatEvent } from './read-event.ts';

export type SourceDeps = Pick<StartContext, 'log'> &
  Omit<BackfillDeps, 'log'> & {
    record: SessionRecord;
    clock: Clock;
    /** Loads all channels, because a resumed session does not list them. */
    findChannels(): Promise<unknown>;
    /** Channels in which messages may have been posted since then. */
    channelsSince(time: number): Missed['channels'];
    backfillHours: number;
  };

/** The gateway's events, preceded by the messages that were missed before them. */
export type EventSource = Pick<EventQueue<Item>, 'poll'> & {
  onEvent(payload: GatewayDispatchPayload, sessionId: string): void;
  onNewSession(ready: Pick<GatewayReadyDispatchData, 'guilds'>): void;
  /** The session was resumed: messages that an earlier process did not read are read now. */
  onResumed(): void;
};
export type Item = { event: ChatEvent | null; sessionId: string; sequence: number; at: number; isLastMissed?: boolean };

/** Maximum number of waiting events. Later ones are read from the channels afterwards. */
const maxWaiting = 5000;
/** How long to wait for the servers that a new session announces, ms. */
const guildsWithinMs = 5000;
/** The last event may have arrived before slightly older messages of another channel, so reading starts this much earlier, ms. */
const overlapMs = 5000;
const hourMs = 60 * 60_000;

export function createEventSource(deps: SourceDeps): EventSource {
  const { record, clock, log, findChannels, channelsSince, backfillHours } = deps;
  /**
   * An earlier process has not read all missed messages. A resumed session first delivers the events in between, and only then reports that
   * it was resumed.
   */
  let isOwed = record.behindSince() !== null;
  /** New events, which wait while missed messages are being read. */
  let held: Item[] | null = isOwed ? [] : null;
  let readings = 0;
  let onGuild: (id: string) => void = () => undefined;
  let reading = Promise.resolve();

  const queue = createEventQueue<Item>({
    clock,
    max: maxWaiting,
    onPassed({ sessionId, sequence, at, isLastMissed }) {
      record.passed({ sessionId, sequence, at });
      if (isLastMissed === true && held === null) record.caughtUp();
    },
    onRoom: () => void catchUp(Promise.resolve()),
  });

  const push = (item: Item): void => {
    if (queue.push(item)) return;
    record.behind();
    log('warn', 'messages arrive faster than they can be taken; the rest is read later');
  };

  /** Runs one at a time. Events that arrive meanwhile follow the missed messages. */
  function catchUp(ready: Promise<void>): Promise<void> {
    held ??= [];
    readings++;
    if (record.lastAt() === null) record.begin();
    else record.behind();
    reading = reading.then(async () => {
      await ready;
      const since = Math.max((record.behindSince() ?? Infinity) - overlapMs, clock.now() - backfillHours * hourMs);
      const missed =
        Number.isFinite(since) && backfillHours > 0 ? await readMissed(deps, { channels: channelsSince(since), since }) : [];
      if (missed.length > 0)
        log('info', 'messages that arrived while the connector was offline were read', { messages: missed.length });
      for (const message of missed)
        push({ event: { kind: 'message', message }, sessionId: '', sequence: 0, at: timeOf(message.id) });
      push({ event: null, sessionId: '', sequence: 0, at: 0, isLastMissed: true });
      if (--readings > 0) return;
      const waiting = held ?? [];
      held = null;
      waiting.forEach(push);
    });
    return reading;
  }

  return {
    poll: queue.poll,
    onEvent(payload, sessionId) {
      if (payload.t === GatewayDispatchEvents.GuildCreate) onGuild(payload.d.id);
      const event = readEvent(payload);
      if (event === null) return;
      const at = event.kind === 'message' ? timeOf(event.message.id) : clock.now();
      const item = { event, sessionId, sequence: payload.s, at };
      if (held === null) push(item);
      else held.push(item);
    },
    onNewSession({ guilds }) {
      isOwed = false;
      const waited = Promise.withResolvers<void>();
      const expected = new Set(guilds.map(({ id }) => id));
      const cancel = clock.after(guildsWithinMs, waited.resolve);
      onGuild = (id) => {
        expected.delete(id);
        if (expected.size === 0) waited.resolve();
      };
      if (expected.size === 0) waited.resolve();
      void catchUp(waited.promise.finally(cancel));
    },
    onResumed() {
      if (!isOwed) return;
      isOwed = false;
      const found = findChannels().catch((error: unknown) => {
        log('warn', 'channels cannot be listed; messages missed there are not read', { error: errorText(error) });
      });
      void catchUp(found.then(() => undefined));
    },
  };
}
