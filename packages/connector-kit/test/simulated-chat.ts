import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { FakeClock } from '@svc/testing/fake-clock.ts';
import type { Place, ReplyPlatform } from '../src/reply/reply-platform.ts';
import type { ConnectorState, StateValue } from '../src/state/state.ts';

export type SimulatedMessage = { id: string; text: string; nonce: string; isGone: boolean };
/** What comes of a request: its answer may be lost although it was taken, or never come, or it fails before it is taken. */
export type Luck = 'good' | 'lost' | 'silent' | 'failed' | 'busy';
export type ChatRules = { limit: number; knowsNonces: boolean; perMs: number; penaltyS: number };

const usual: ChatRules = { limit: 2000, knowsNonces: true, perMs: 0, penaltyS: 10 };

/** One chat of a platform, as its readers see it. Texts over the limit and writes that come too fast are held against the writer. */
export function createSimulatedChat(clock: FakeClock, rules: Partial<ChatRules> = {}) {
  const { limit, knowsNonces, perMs, penaltyS } = { ...usual, ...rules };
  const messages: SimulatedMessage[] = [];
  const calls: string[] = [];
  const faults: string[] = [];
  const luck: Luck[] = [];
  const tookMs: number[] = [];
  let closedUntil = Number.NEGATIVE_INFINITY;
  let isForgiving = false;
  let last = Number.NEGATIVE_INFINITY;

  const pause = (seconds: number) => new ServiceError('busy', 'too fast', { details: { retry_after_s: seconds } });
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const find = (id: string) => {
    const message = messages.find((each) => each.id === id && !each.isGone);
    if (message === undefined) throw new ServiceError('not_found', 'there is no such message');
    return message;
  };

  async function request<T>(name: string, work: () => T): Promise<T> {
    const ms = tookMs.shift() ?? 0;
    if (ms > 0) await sleep(ms);
    calls.push(name);
    const now = clock.elapsed();
    const outcome = luck.shift() ?? 'good';
    if (name === 'find') {
      // Reading has a budget of its own.
      if (outcome === 'lost' || outcome === 'failed') throw new Error('the platform failed');
      return work();
    }
    const isClosed = now < closedUntil;
    if (isClosed && !isForgiving) faults.push(`${name} during a penalty`);
    if (now - last < perMs && !isForgiving) faults.push(`${name} after ${now - last} ms`);
    [last, isForgiving] = [now, false];
    if (isClosed) throw pause((closedUntil - now) / 1000);
    if (outcome === 'busy') {
      closedUntil = now + penaltyS * 1000;
      throw pause(penaltyS);
    }
    if (outcome === 'failed') throw new Error('the platform failed');
    const value = work();
    if (outcome === 'silent') await new Promise(() => undefined);
    if (outcome === 'lost') throw new Error('the answer was lost');
    return value;
  }

  const check = (text: string) => {
    if (text.length > limit) faults.push(`${text.length} characters`);
    if (text.trim() === '') faults.push('an empty message');
    return text;
  };

  const platform = {
    post: ({ text, nonce }: Place & { text: string; nonce: string }) =>
      request('post', () => {
        const known = knowsNonces ? messages.find((each) => each.nonce === nonce) : undefined;
        if (known !== undefined) return known.id;
        const id = `p${messages.length}`;
        messages.push({ id, text: check(text), nonce, isGone: false });
        return id;
      }),
    edit: ({ id, text }: Place & { id: string; text: string }) => request('edit', () => void (find(id).text = check(text))),
    find: ({ nonce }: Place & { nonce: string }) =>
      request('find', () => messages.find((each) => each.nonce === nonce && !each.isGone)?.id ?? null),
    remove: ({ id }: Place & { id: string }) => request('remove', () => void (find(id).isGone = true)),
  } satisfies ReplyPlatform;

  return {
    platform,
    calls,
    faults,
    luck,
    tookMs,
    messages,
    /** The next request is of a new process, which knows of no pause. */
    forgiveOnce: () => void (isForgiving = true),
    /** What a reader sees. */
    shown: () => messages.filter(({ isGone }) => !isGone).map(({ text }) => text),
  };
}

/** State in memory that outlives the writers that use it: `killed` ones change nothing any more, and get no answer. */
export function createSimulatedState() {
  const entries = new Map<string, string>();
  const open = (isKilled: () => boolean): ConnectorState => {
    const step = async <T>(work: () => T): Promise<T> => {
      await nextTurn();
      return isKilled() ? new Promise<T>(() => undefined) : work();
    };
    const put = (key: string, value: StateValue | undefined) =>
      value === undefined ? entries.delete(key) : entries.set(key, JSON.stringify(value));
    return {
      get: <T extends StateValue>(key: string) =>
        step(() => (entries.has(key) ? (JSON.parse(entries.get(key) ?? '') as T) : undefined)),
      set: (key, value) => step(() => void put(key, value)),
      change: (changes) => step(() => Object.entries(changes).forEach(([key, value]) => put(key, value))),
      delete: (key) => step(() => void entries.delete(key)),
      list: (prefix) =>
        step(() =>
          [...entries.keys()]
            .filter((key) => key.startsWith(prefix))
            .toSorted()
            .map((key) => ({ key, value: JSON.parse(entries.get(key) ?? 'null') as StateValue })),
        ),
      append: () => Promise.reject(new Error('not used here')),
    };
  };
  return { entries, open };
}

/** Lets time pass until something is so. @throws when it is not after `withinMs` */
export async function passUntil(clock: FakeClock, isSo: () => boolean, withinMs = 600_000, stepMs = 50): Promise<void> {
  const end = clock.elapsed() + withinMs;
  for (;;) {
    for (let turn = 0; turn < 6; turn++) await nextTurn();
    if (isSo()) return;
    if (clock.elapsed() >= end) throw new Error('it did not come to that');
    clock.advance(stepMs);
  }
}
