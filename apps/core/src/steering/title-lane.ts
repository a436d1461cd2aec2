/** One title at a time is made by an engine, for all callers. */
export type TitleLane = {
  /** Gives what ends it; null while another one is being made. */
  take(): (() => void) | null;
  isTaken(): boolean;
};

export function createTitleLane(): TitleLane {
  let isBusy = false;
  return {
    take() {
      if (isBusy) return null;
      isBusy = true;
      return () => void (isBusy = false);
    },
    isTaken: () => isBusy,
  };
}
