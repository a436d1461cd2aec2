import type { Clock } from '@svc/service-kit/clock.ts';

/** One step that a client is shown while it waits. */
export type Notify = (step: { progress: number; message: string }) => void;

export type Progress = {
  /** What is being written; passed on in pieces. */
  text(delta: string): void;
  /** Something else that goes on, such as a tool. */
  step(message: string): void;
  end(): void;
};

const textEveryMs = 400;
/** Clients give up on a call that sends them nothing. */
const aliveEveryMs = 5_000;

/** Tells a client what goes on: at once, as text is written, and every 5 s when nothing else is to be said. */
export function createProgress(notify: Notify, clock: Clock): Progress {
  const startedAt = clock.elapsed();
  let count = 0;
  let unsent = '';
  let isQuiet = true;
  const tell = (message: string) => {
    isQuiet = false;
    count++;
    notify({ progress: count, message });
  };
  const flush = () => {
    if (unsent === '') return;
    const text = unsent;
    unsent = '';
    tell(text);
  };
  tell('The question was received.');
  const stopText = clock.every(textEveryMs, flush);
  const stopAlive = clock.every(aliveEveryMs, () => {
    if (isQuiet) tell(`Working (${Math.round((clock.elapsed() - startedAt) / 1000)} s).`);
    isQuiet = true;
  });
  return {
    text(delta) {
      unsent += delta;
    },
    step(message) {
      flush();
      tell(message);
    },
    end() {
      stopText();
      stopAlive();
      flush();
    },
  };
}
