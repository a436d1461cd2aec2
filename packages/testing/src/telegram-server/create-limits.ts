import type { Clock } from '@svc/service-kit/clock.ts';
import { ApiError, type TelegramChat } from './api-types.ts';

export type TelegramLimits = {
  /** The burst of messages that a chat allows, before one per second. */
  chatBurst: number;
  groupPerMinute: number;
  perSecond: number;
  /** How much shorter windows are than documented, because requests take a while. */
  slackMs: number;
  /** The shortest penalty after an offence. Each write during it doubles it. */
  penaltyMs: number;
  longestPenaltyMs: number;
};

export const usualLimits: TelegramLimits = {
  chatBurst: 3,
  groupPerMinute: 20,
  perSecond: 30,
  slackMs: 250,
  penaltyMs: 3000,
  longestPenaltyMs: 120_000,
};

/** A write that came too early, and its refusal. */
export type Offence = { chat: number; limit: 'chat' | 'group' | 'bot' | 'penalty'; retryAfterS: number };

export type Limits = {
  /** Counts a write of the bot. @throws ApiError when there are too many. */
  take(chat: TelegramChat, writes: number): void;
  offences: Offence[];
};

type Window = { count: number; perMs: number; limit: Offence['limit']; at: number[] };
type Penalty = { until: number; ms: number };

/** The documented limits: one message per second and chat, 20 per minute and group, 30 per second in all. `timeScale`: how much faster their time goes. */
export function createLimits(rules: TelegramLimits | null, clock: Clock, timeScale: number): Limits {
  const windows = new Map<string, Window>();
  const penalties = new Map<number, Penalty>();
  const offences: Offence[] = [];

  const windowsOf = ({ id, type }: TelegramChat, { chatBurst, groupPerMinute, perSecond, slackMs }: TelegramLimits): Window[] => [
    windowNamed(`chat ${id}`, { count: chatBurst, perMs: chatBurst * 1000 - slackMs, limit: 'chat' }),
    ...(type === 'private'
      ? []
      : [windowNamed(`group ${id}`, { count: groupPerMinute, perMs: 60_000 - slackMs, limit: 'group' })]),
    windowNamed('bot', { count: perSecond, perMs: 1000 - slackMs, limit: 'bot' }),
  ];
  const windowNamed = (name: string, window: Omit<Window, 'at'>): Window => {
    const there = windows.get(name) ?? { ...window, at: [] };
    windows.set(name, there);
    return there;
  };

  return {
    offences,
    take(chat, writes) {
      if (rules === null) return;
      const now = clock.elapsed() * timeScale;
      const penalty = penalties.get(chat.id);
      const own = windowsOf(chat, rules);
      const waits = own.map((window) => ({ limit: window.limit, ms: waitFor(window, writes, now) }));
      const worst = waits.toSorted((a, b) => b.ms - a.ms)[0] ?? { limit: 'bot', ms: 0 };
      const isIgnored = penalty !== undefined && now < penalty.until;
      if (!isIgnored && worst.ms <= 0) {
        penalties.delete(chat.id);
        for (const { at } of own) for (let n = 0; n < writes; n++) at.push(now);
        return;
      }
      const ms = isIgnored ? Math.min(penalty.ms * 2, rules.longestPenaltyMs) : Math.max(rules.penaltyMs, worst.ms);
      penalties.set(chat.id, { until: now + ms, ms });
      const retryAfterS = timeScale === 1 ? Math.ceil(ms / 1000) : ms / 1000 / timeScale;
      offences.push({ chat: chat.id, limit: isIgnored ? 'penalty' : worst.limit, retryAfterS });
      throw tooManyRequests(retryAfterS);
    },
  };
}

export const tooManyRequests = (seconds: number): ApiError =>
  new ApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });

/** How long until a window allows this many more; 0 when it does now. */
function waitFor(window: Window, writes: number, now: number): number {
  window.at = window.at.filter((at) => at > now - window.perMs);
  const tooMany = window.at.length + Math.min(writes, window.count) - window.count;
  const oldest = window.at[tooMany - 1];
  return oldest === undefined ? 0 : oldest + window.perMs - now;
}
