import { standByVariable, standByWords } from '@svc/service-kit/stand-by.ts';
import type { ChildSpec, LogLine } from './child-spec.ts';
import { spawnChild, type ChildListener, type Spawn } from './spawn-child.ts';

/** A process that was started ahead of time and waits for the signal to begin. */
export type SpareChild = {
  /** Resolves when it is prepared, or has ended. */
  prepared: Promise<void>;
  /** The first call lets the waiting process begin. Later calls, and calls after it has ended, start a new process. */
  spawn: Spawn;
  /** Ends the process if it was not used. */
  end(): void;
};

/** How many chunks of output are kept until the process is used. */
const keptChunks = 100;

export function startSpare(spec: ChildSpec, spawn: Spawn = spawnChild): SpareChild {
  const { promise: prepared, resolve } = Promise.withResolvers<void>();
  const written: [LogLine['stream'], Buffer][] = [];
  let taker: ChildListener | null = null;
  let isGone = false;
  const child = spawn(
    { ...spec, env: { ...spec.env, [standByVariable]: '1' } },
    {
      onMessage(message) {
        if ((message as { type?: unknown } | null)?.type === standByWords.prepared) resolve();
        else taker?.onMessage(message);
      },
      onOutput(stream, chunk) {
        if (taker !== null) taker.onOutput(stream, chunk);
        else if (written.length < keptChunks) written.push([stream, chunk]);
      },
      onExit(exit) {
        isGone = true;
        resolve();
        taker?.onExit(exit);
      },
    },
  );
  return {
    prepared,
    spawn(wanted, listener) {
      if (isGone || taker !== null) return spawn(wanted, listener);
      taker = listener;
      for (const [stream, chunk] of written.splice(0)) listener.onOutput(stream, chunk);
      child.send({ type: standByWords.go });
      return child;
    },
    end() {
      if (taker === null && !isGone) child.killGroup();
    },
  };
}
