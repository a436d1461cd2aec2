/** Limits title calls to one at a time, for all callers. */
export type TitleLane = {
  /** Returns the function that frees the lane; null while another title is being made. */
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
