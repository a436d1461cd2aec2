/** The gateway's clock, as far as a device knows it: the two may differ by any amount. */
export type GatewayClock = {
  /** The gateway has said what time it is, epoch ms. */
  set(serverTime: number): void;
  /** Whether a time of the gateway is over. */
  isOver(time: number): boolean;
};

export function createGatewayClock(now: () => number = Date.now): GatewayClock {
  let aheadMs = 0;
  return {
    set: (serverTime) => void (aheadMs = now() - serverTime),
    isOver: (time) => now() - aheadMs > time,
  };
}
