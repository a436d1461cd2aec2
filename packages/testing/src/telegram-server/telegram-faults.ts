import type { PlatformFault } from '../chat-platform/platform-faults.ts';
import type { TelegramUpdate } from './api-types.ts';

/** What goes wrong with a request: as on any platform, or a 429 that no limit of ours asked for. */
export type TelegramFault = PlatformFault | { retryAfterS: number };

/** Says what goes wrong with a call of a method (`file` for downloads); undefined for those that are to go well. */
export type ChooseTelegramFault = (request: { method: string; params: Record<string, unknown> }) => TelegramFault | undefined;

/** Shares of requests that go wrong, from 0 to 1. */
export type FaultShares = {
  cutBefore: number;
  cutAfter: number;
  errorBefore: number;
  errorAfter: number;
  slow: number;
  tooMany: number;
};

/** Faults by chance, as networks and busy platforms have them. */
export function randomFaults(random: () => number, shares: Partial<FaultShares>): ChooseTelegramFault {
  const kinds: [number, TelegramFault][] = [
    [shares.cutBefore ?? 0, 'cut before'],
    [shares.cutAfter ?? 0, 'cut after'],
    [shares.errorBefore ?? 0, { status: 502, when: 'before' }],
    [shares.errorAfter ?? 0, { status: 502, when: 'after' }],
    [shares.slow ?? 0, { slowMs: 50 }],
    [shares.tooMany ?? 0, { retryAfterS: 1 }],
  ];
  return () => {
    let luck = random();
    return kinds.find(([share]) => (luck -= share) < 0)?.[1];
  };
}

/** What becomes of the updates that a poll gets: some come twice, some before others. */
export type UpdateFaults = { random: () => number; twice: number; outOfOrder: number };

export function createUpdateFaults({ random, twice, outOfOrder }: UpdateFaults): (updates: TelegramUpdate[]) => TelegramUpdate[] {
  let before: TelegramUpdate[] = [];
  return (updates) => {
    const again = before.filter(() => random() < twice);
    before = updates.slice(-5);
    const given = [...again, ...updates.flatMap((update) => (random() < twice ? [update, update] : [update]))];
    return updates.length > 1 && random() < outOfOrder ? given.toReversed() : given;
  };
}
