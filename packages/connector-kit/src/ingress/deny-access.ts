import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';

type Deps = { say(target: string, text: string): Promise<unknown>; clock?: Clock };

const hourMs = 60 * 60_000;
/** Notices per hour to one chat, and per minute to all chats: strangers can come in any number. */
const limits = { ofChat: 3, ofAll: 20 } as const;
const everybody = '';

/** Tells a chat, at limited rates, that it gets no answers. Never rejects. */
export function createDenyAccess({ say, clock = systemClock }: Deps): (target: string) => Promise<void> {
  const chats = createFixedWindow(clock, { max: limits.ofChat, windowMs: hourMs, maxKeys: 1000 });
  const all = createFixedWindow(clock, { max: limits.ofAll, windowMs: 60_000 });
  return async (target) => {
    if (all.waitMs(everybody) > 0 || chats.count(target) > 0) return;
    all.count(everybody);
    await say(target, 'Access denied.').catch(() => undefined); // a lost notice affects only a stranger, who may have blocked the bot
  };
}
