import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedSession } from '@svc/contract/session.ts';
import type { SseEvent } from '../sse-reader.ts';

const usualRestMs = 1000;

type Follow = {
  feed: AsyncGenerator<SseEvent>;
  read: () => Promise<ListedSession[]>;
  /** `changed`: sessions that are new or changed. One that is no longer active is missing from `list`. */
  onList: (list: ListedSession[], changed: ListedSession[]) => void;
  /** Waits between two reads of the list. */
  rest?: () => Promise<null>;
};

/** Reports the list of sessions now, and again after each event that changes it. Resolves when the feed ends. */
export async function followSessions({ feed, read, onList, rest = () => sleep(usualRestMs, null) }: Follow): Promise<void> {
  let before = new Map<string, string>();
  const show = async () => {
    const list = await read();
    const now = new Map(list.map((session) => [session.conversation_key, JSON.stringify(session)]));
    const changed = list.filter(({ conversation_key: key }) => before.get(key) !== now.get(key));
    if (changed.length > 0 || now.size !== before.size || before.size === 0) onList(list, changed);
    before = now;
  };
  // The feed is opened first, so that no event is lost in between.
  let next = feed.next();
  next.catch(() => undefined); // thrown below
  await show();
  let isChanged = false;
  let pause: Promise<null> | null = null;
  for (;;) {
    const item: IteratorResult<SseEvent> | null = await (pause === null ? next : Promise.race([next, pause]));
    if (item === null) {
      pause = null;
      if (isChanged) await show();
      isChanged = false;
      continue;
    }
    if (item.done === true) return;
    next = feed.next();
    next.catch(() => undefined); // thrown above
    if (item.value.event !== 'sessions-changed') continue;
    isChanged = true;
    pause ??= rest();
  }
}
