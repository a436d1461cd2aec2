const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The exit code that shells use for a process killed by a signal. */
const interrupted = 130;

/** `asked`: by a signal, or because its parent is gone. `again`: it restarts. `given_up`: it cannot continue. */
export type StopReason = 'asked' | 'again' | 'given_up';

type Steps = {
  /** Runs once, at the first signal. `isForNext`: another version waits to replace it. */
  stop: (isForNext: boolean) => Promise<void>;
  /** Runs at another signal: the person does not want to wait. */
  killNow: () => void;
  onStopping: (why: StopReason) => void;
  /** Runs before that, while everything keeps running; never rejects. */
  beforeAgain?: () => Promise<void>;
  /** Exit code after SIGUSR2, when another version is to be started instead. */
  againCode: number;
};

export type Life = {
  ended: Promise<number>;
  isStopping: () => boolean;
  /** Stops everything because it cannot continue; `ended` then rejects with the reason. */
  giveUp: (reason: Error) => void;
  /** Stops as after a signal. */
  stop: () => void;
  close: () => void;
};

/** Listens for signals from this call on. `ended` resolves with the exit code when everything has stopped; `close` stops listening. */
export function runUntilStopped({ stop, killNow, onStopping, beforeAgain = async () => undefined, againCode }: Steps): Life {
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  // It may reject while nobody waits for it yet.
  ended.catch(() => undefined);
  // While a child waits for its restart, nothing else keeps this process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  let stopping = false;
  let isAsked = false;
  const onSignal = () => {
    if (stopping) {
      killNow();
      resolve(interrupted);
      return;
    }
    stopping = true;
    onStopping('asked');
    stop(false).then(() => resolve(0), reject);
  };
  const onAgain = async () => {
    if (stopping || isAsked) return;
    isAsked = true;
    await beforeAgain();
    // It may have been asked to stop altogether in the meantime.
    if (stopping) return;
    stopping = true;
    onStopping('again');
    stop(true).then(() => resolve(againCode), reject);
  };
  const startAgain = () => void onAgain();
  for (const signal of signals) process.on(signal, onSignal);
  process.on('SIGUSR2', startAgain);
  // Node's default handler would open a debugger, which could read the settings of this process.
  process.on('SIGUSR1', ignore);
  return {
    ended,
    isStopping: () => stopping,
    giveUp(reason) {
      if (stopping) return;
      stopping = true;
      onStopping('given_up');
      void stop(false).then(
        () => reject(reason),
        () => reject(reason),
      );
    },
    stop() {
      if (!stopping) onSignal();
    },
    close() {
      clearInterval(alive);
      for (const signal of signals) process.removeListener(signal, onSignal);
      process.removeListener('SIGUSR2', startAgain);
      process.removeListener('SIGUSR1', ignore);
    },
  };
}

const ignore = () => undefined;
