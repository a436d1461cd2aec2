const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Exit code of a process that a signal ended, as shells count. */
const interrupted = 130;

/** `asked`: by a signal, or because what keeps it is gone. `again`: it is to start again. `given_up`: it cannot go on. */
export type StopReason = 'asked' | 'again' | 'given_up';

type Steps = {
  /** Runs once, at the first signal. `isForNext`: another version waits to take its place. */
  stop: (isForNext: boolean) => Promise<void>;
  /** At a further one: the person does not want to wait. */
  killNow: () => void;
  onStopping: (why: StopReason) => void;
  /** Done before that, while all runs on; never rejects. */
  beforeAgain?: () => Promise<void>;
  /** Exit code when another version is to be started in its place, after SIGUSR2. */
  againCode: number;
};

export type Life = {
  ended: Promise<number>;
  isStopping: () => boolean;
  /** Stops all because it cannot go on; `ended` then rejects with the reason. */
  giveUp: (reason: Error) => void;
  /** As a signal does. */
  stop: () => void;
  close: () => void;
};

/** Listens for signals from the moment of the call. `ended` resolves with the exit code when all has stopped; `close` ends listening. */
export function runUntilStopped({ stop, killNow, onStopping, beforeAgain = async () => undefined, againCode }: Steps): Life {
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  // It may fail while nobody waits for it yet.
  ended.catch(() => undefined);
  // Waiting for a child to be started again leaves nothing else that keeps this process alive.
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
    // It may have been asked to end altogether meanwhile.
    if (stopping) return;
    stopping = true;
    onStopping('again');
    stop(true).then(() => resolve(againCode), reject);
  };
  const startAgain = () => void onAgain();
  for (const signal of signals) process.on(signal, onSignal);
  process.on('SIGUSR2', startAgain);
  // Left to Node, it would open a debugger into the settings that are read here.
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
