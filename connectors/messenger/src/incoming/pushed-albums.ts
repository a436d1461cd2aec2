import type { StartContext } from '@svc/connector-kit/connector.ts';
import { pause } from '@svc/connector-kit/retry.ts';
import type { StateValue } from '@svc/connector-kit/state/state.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { wellFormed } from '@svc/service-kit/well-formed.ts';
import { readUpdate } from './read-update.ts';

/** Takes an update that Telegram has pushed; resolves when it may be accepted. */
type Take = (update: unknown) => Promise<void>;
type Deps = Pick<StartContext, 'state' | 'log' | 'signal'> & { clock: Clock; take: Take };

const prefix = 'pushed/';
/** A part has a few KB; more of them wait until there is room. */
const maxStored = 200;
const longestId = 16;
/** Interval of attempts, ms: the same for all parts, which stay in their order. */
const againMs = 1000;

/**
 * Takes pushed updates. Telegram pushes the next update of a chat only when the one before it was accepted, but a part of an album waits for
 * the others. So it is stored and accepted at once.
 */
export async function openPushedAlbums({ state, log, signal, clock, take }: Deps): Promise<Take> {
  const stored = new Map<string, StateValue>((await state.list(prefix)).map(({ key, value }) => [key, value]));

  async function finish(key: string, update: unknown): Promise<void> {
    for (;;) {
      try {
        await take(update);
        await state.delete(key);
        stored.delete(key);
        return;
      } catch (error) {
        log('debug', 'a part of an album could not be taken yet', { error: errorText(error) });
        if (!(await pause(clock, againMs, signal))) return; // the next process takes it
      }
    }
  }

  async function store(key: string, update: unknown): Promise<boolean> {
    if (stored.size >= maxStored) return false;
    try {
      stored.set(key, null);
      await state.set(key, update as StateValue);
      return true;
    } catch (error) {
      stored.delete(key);
      log('warn', 'a part of an album could not be stored', { error: errorText(error) });
      return false;
    }
  }

  // Those of an earlier process come before new updates.
  for (const [key, update] of stored) void finish(key, update);

  return async (given) => {
    const update = wellFormed(given);
    const incoming = readUpdate(update);
    if (incoming?.kind !== 'message' || incoming.message.media_group_id === undefined) return take(update);
    const key = prefix + String(incoming.id).padStart(longestId, '0');
    if (stored.has(key)) return;
    if (!(await store(key, update))) return take(update);
    void finish(key, update);
  };
}
