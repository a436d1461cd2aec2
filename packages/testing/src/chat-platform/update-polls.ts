import type { ServerResponse } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { ChatHistory } from './chat-history.ts';
import { PlatformRefusal, type PlatformUpdate } from './platform-types.ts';

type Updates = { updates: PlatformUpdate[] };

/** The long polls of the bot: one at a time, because two would take each other's updates. */
export type UpdatePolls = {
  readonly passed: number;
  /** `?after=ID&wait=SECONDS`: the updates after an id, at once or when one arrives. @throws PlatformRefusal when a newer poll replaced it. */
  wait(query: URLSearchParams, response: ServerResponse): Promise<Updates>;
};

const maxUpdates = 100;

export function createUpdatePolls(history: ChatHistory, clock: Clock): UpdatePolls {
  let passed = 0;
  let endPoll: (() => void) | null = null;

  return {
    get passed() {
      return passed;
    },
    wait(query, response) {
      passed = Math.max(passed, Number(query.get('after') ?? 0));
      endPoll?.();
      const { promise, resolve, reject } = Promise.withResolvers<Updates>();
      const found = () => ({ updates: history.updatesAfter(passed).slice(0, maxUpdates) });
      const finish = () => resolve(found());
      const stopTimer = clock.after(Math.min(Number(query.get('wait') ?? 0), 50) * 1000, finish);
      endPoll = () => reject(new PlatformRefusal(409, 'another_poll'));
      history.onUpdate = finish;
      response.once('close', finish);
      if (found().updates.length > 0) finish();
      return promise.finally(stopTimer);
    },
  };
}
