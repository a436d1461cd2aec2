import type { PlatformFault } from '../chat-platform/platform-faults.ts';
import type { TelegramUpdate } from './api-types.ts';

/** A fault of a request: as on any platform, or a 429 without a broken limit. */
export type TelegramFault = PlatformFault | TooMany;
type TooMany = { retryAfterS: number };

export const isTooMany = (fault: TelegramFault | undefined): fault is TooMany =>
  typeof fault === 'object' && 'retryAfterS' in fault;

export type TelegramRequest = { method: string; params: Record<string, unknown> };

/** Chooses the fault of a call by its method (`file` for downloads); undefined for none. */
export type ChooseTelegramFault = (request: TelegramRequest) => TelegramFault | undefined;

/** The faults of a server: chosen by its test for each request, or queued for the next ones. */
export type Faults = {
  /** The faults of requests; none at first. */
  fault: ChooseTelegramFault;
  /** Gives each of the next calls of matching methods one of these faults. */
  failNext(methods: RegExp, ...faults: TelegramFault[]): void;
};

/** `choose`: the fault of a request to the server with these faults. */
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

/** The shares of requests with a fault, from 0 to 1. */
export type FaultShares = {
  cutBefore: number;
  cutAfter: number;
  errorBefore: number;
  errorAfter: number;
  slow: number;
  tooMany: number;
};

/** Random faults, as of networks and busy platforms. */
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

/** Disturbs the updates of a poll: some come twice, some out of order. */
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
