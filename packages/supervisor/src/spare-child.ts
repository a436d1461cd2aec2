import { standByVariable, standByWords } from '@svc/service-kit/stand-by.ts';
import type { ChildSpec, LogLine } from './child-spec.ts';
import { spawnChild, type ChildListener, type Spawn } from './spawn-child.ts';

/** A process that was started ahead of its time and waits to be told to begin. */
export type SpareChild = {
  /** Resolves when it is prepared, or has ended. */
  prepared: Promise<void>;
  /** The first time this is the one that waits, which begins; afterwards, and when that has ended, a new process. */
  spawn: Spawn;
  /** Ends it when nobody has taken it. */
  end(): void;
};

/** Of what it wrote before it was taken. */
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
