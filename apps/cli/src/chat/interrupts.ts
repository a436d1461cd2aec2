/** Decides what Ctrl-C does in a conversation. */
export type Interrupts = {
  /** Ctrl-C was pressed. */
  press(): void;
  /** Another key was pressed: the next Ctrl-C counts as the first again. */
  reset(): void;
  /** True while this turn is being stopped. */
  isStopping(turn: object): boolean;
};

type Deps = {
  /** The turn that is shown; null while none runs. */
  current: () => object | null;
  stop: () => void;
  leave: () => void;
  /** Clears the input; false when it is empty. */
  clear: () => boolean;
  /** Shows that another Ctrl-C quits. */
  warn: () => void;
};

/** The first Ctrl-C stops the turn, clears the input or warns; the second quits, unless another turn has started by then. */
export function createInterrupts({ current, stop, leave, clear, warn }: Deps): Interrupts {
  let asked: object | 'leave' | null = null;
  return {
    press() {
      const turn = current();
      if (asked !== null && (turn === null || turn === asked)) return leave();
      asked = turn;
      if (turn !== null) return stop();
      if (clear()) return;
      asked = 'leave';
      warn();
    },
    reset: () => void (asked = null),
    isStopping: (turn) => asked === turn,
  };
}
