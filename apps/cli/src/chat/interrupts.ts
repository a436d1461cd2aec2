/** What Ctrl-C does in a conversation. */
export type Interrupts = {
  /** Ctrl-C was pressed. */
  press(): void;
  /** Something else was: the next one begins over. */
  reset(): void;
  /** True while this turn is being stopped. */
  isStopping(turn: object): boolean;
};

type Deps = {
  /** The turn that is shown; null while none runs. */
  current: () => object | null;
  stop: () => void;
  leave: () => void;
  /** Clears what is typed; false when nothing is. */
  clear: () => boolean;
  /** Says that a further one leaves. */
  warn: () => void;
};

/** The first stops the turn, or clears what is typed, or warns; the second leaves, unless another turn runs by then. */
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
