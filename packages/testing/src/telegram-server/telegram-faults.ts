import type { PlatformFault } from '../chat-platform/platform-faults.ts';
import type { TelegramUpdate } from './api-types.ts';

/** What goes wrong with a request: as on any platform, or a 429 that no limit of ours asked for. */
export type TelegramFault = PlatformFault | TooMany;
type TooMany = { retryAfterS: number };

export const isTooMany = (fault: TelegramFault | undefined): fault is TooMany =>
  typeof fault === 'object' && 'retryAfterS' in fault;

export type TelegramRequest = { method: string; params: Record<string, unknown> };

/** Says what goes wrong with a call of a method (`file` for downloads); undefined for those that are to go well. */
export type ChooseTelegramFault = (request: TelegramRequest) => TelegramFault | undefined;

/** The faults of a server: those that its test chooses for each request, and those that come next. */
export type Faults = {
  /** The faults of requests; none at first. */
  fault: ChooseTelegramFault;
  /** The next calls of methods whose names fit go wrong, one each. */
  failNext(methods: RegExp, ...faults: TelegramFault[]): void;
};

/** `choose` says what goes wrong with a request of the server that has these faults. */
export function createFaults(): {
  failNext: Faults['failNext'];
  choose(own: Faults, request: TelegramRequest): TelegramFault | undefined;
} {
  const queued: { methods: RegExp; fault: TelegramFault }[] = [];
  return {
    failNext: (methods, ...faults) => queued.push(...faults.map((fault) => ({ methods, fault }))),
    choose(own, request) {
      const at = queued.findIndex(({ methods }) => methods.test(request.method));
      return at === -1 ? own.fault(request) : queued.splice(at, 1)[0]?.fault;
    },
  };
}

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
