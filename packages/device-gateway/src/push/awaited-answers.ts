import { CoreError, errorText, type ConnectorState, type CoreApi } from '@svc/connector-kit';
import type { HistoryMessage } from '@svc/contract/session.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { Outcome } from '@svc/contract/turn.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Gateway } from '../gateway.ts';
import { askerOf, ownKey } from '../gateway.ts';
import type { Subscriptions } from './subscriptions.ts';

type Ended = { outcome: Outcome; text: string };

/** The last answer that each device with a push subscription waits for, kept across restarts of the gateway. */
export type AwaitedAnswers = {
  begun(deviceId: string, turnId: string): Promise<void>;
  /** The turn has ended, and its listeners were notified. */
  over(deviceId: string): Promise<void>;
  /** At the start: waits for turns that continued or ended while the gateway was down. The returned function stops this. */
  resume(onEnded: (deviceId: string, answer: Ended) => void): Promise<() => void>;
};

type Deps = Pick<Gateway, 'meta' | 'clock' | 'devices'> & {
  ctx: Gateway['ctx'];
  subscriptions: Pick<Subscriptions, 'get'>;
};
type Awaited = { turn_id: string; at: number };

const prefix = 'awaited/';
/** Older answers are not reported: they would surprise more than help. */
const maxAgeMs = 24 * 60 * 60_000;
/** How long to wait for a turn after a start. */
const patienceMs = 60 * 60_000;
/** Time after which a core that could not answer is asked again, ms. */
const againMs = 5_000;

export function createAwaitedAnswers(deps: Deps): AwaitedAnswers {
  const { ctx, clock, devices, subscriptions } = deps;
  const state: ConnectorState = ctx.state;
  const nameOf = (deviceId: string) => prefix + deviceId;
  // One at a time, so that a forgotten answer is not stored again.
  const lane = createLane(1);
  const over = (deviceId: string): Promise<void> =>
    lane(async () => {
      if ((await state.get(nameOf(deviceId))) !== undefined) await state.delete(nameOf(deviceId));
    });

  return {
    begun: (deviceId, turnId) =>
      lane(async () => {
        if ((await subscriptions.get(deviceId)) === undefined) return;
        await state.set(nameOf(deviceId), { turn_id: turnId, at: clock.now() } satisfies Awaited);
      }),
    over,
    async resume(onEnded) {
      const waits: (() => void)[] = [];
      for (const { key, value } of await state.list(prefix)) {
        const { turn_id, at } = value as Awaited;
        const deviceId = key.slice(prefix.length);
        const device = devices.find(deviceId);
        if (device === null || clock.now() - at > maxAgeMs) await over(deviceId);
        else waits.push(awaitTurn(deps, device, turn_id, (answer) => answer !== null && onEnded(deviceId, answer)));
      }
      return () => waits.forEach((stop) => stop());
    },
  };
}

/** Calls back once, with the outcome of the turn, or with null when it cannot be found out. */
function awaitTurn(deps: Deps, device: DeviceRecord, turnId: string, onOver: (answer: Ended | null) => void): () => void {
  const { ctx, clock } = deps;
  const { sessions }: Pick<CoreApi, 'sessions'> = ctx.core;
  const [as, key] = [askerOf(deps, device), ownKey(deps, device)];
  let isOver = false;
  let unwatch = (): void => undefined;
  let cancelAgain = (): void => undefined;
  const stop = (): void => {
    isOver = true;
    cancel();
    cancelAgain();
    unwatch();
  };
  const end = (answer: Ended | null): void => {
    if (isOver) return;
    stop();
    onOver(answer);
  };
  const cancel = clock.after(patienceMs, () => end(null));
  // The watch comes first: an end between the two calls is then seen twice, but reported once.
  const begin = (): void => {
    unwatch();
    unwatch = sessions.watch(as, key, {
      onFrame: (frame) => {
        if (frame.type === 'end' && frame.turn_id === turnId && frame.outcome !== null)
          end({ outcome: frame.outcome, text: frame.text });
      },
      onEnd: (error) => (isPassing(error) ? beginAgain() : end(null)),
    });
    sessions.history(as, key, { limit: 50 }).then(
      ({ messages }) => {
        const answer = endingOf(messages.filter((message) => message.turn_id === turnId));
        if (answer !== null) end(answer);
      },
      (error: unknown) => {
        ctx.log('debug', 'the history could not be searched for an answer that a device waits for', { error: errorText(error) });
        if (isPassing(error)) beginAgain();
      },
    );
  };
  const beginAgain = (): void => {
    cancelAgain();
    if (!isOver) cancelAgain = clock.after(againMs, begin);
  };
  begin();
  return stop;
}

/** The core starts, or has too much to do. */
const isPassing = (error: unknown): boolean =>
  error instanceof CoreError && (error.code === 'unavailable' || error.code === 'busy' || error.code === 'queue_full');

/** Null for a running turn and for an unknown one. */
function endingOf(messages: readonly HistoryMessage[]): Ended | null {
  const [first] = messages;
  if (first === undefined || first.outcome === null) return null;
  const texts = messages.filter(({ role, text }) => role === 'assistant' && text !== '').map(({ text }) => text);
  return { outcome: first.outcome, text: texts.join('\n\n') };
}
