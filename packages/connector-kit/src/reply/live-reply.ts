import { backOffMs } from '@svc/service-kit/backoff.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';
import type { ChatGate } from './chat-gate.ts';
import { createLiveSteps, type StepDeps } from './live-steps.ts';
import type { Paced } from './reply-platform.ts';
import { faultOf, pauseMsOf } from './write-fault.ts';

/** Minimum time between two writes of a growing reply, ms, after the given number of writes. Null: it is shown only when it is complete. */
export type LiveEveryMs = (writes: number, chat: string) => number | null;

export type LiveDeps = StepDeps & {
  gate: ChatGate;
  chat: string;
  /** Prepares the messages; never rejects. */
  open(): Promise<void>;
  liveEveryMs?: LiveEveryMs;
  mostLive?: number;
  log: StartContext['log'];
};

/** Shows a reply while it grows: one write at a time, always with the newest text. */
export type LiveReply = {
  /** There is more text. */
  changed(): void;
  /** The text so far was withdrawn. */
  retracted(): void;
  /** Resolves when nothing will be written any more. */
  stop(): Promise<void>;
};

/** After this many faults in a row, only the complete text is tried. */
const maxFaults = 4;
const faultPause = { firstMs: 1000, maxMs: 16_000 };
/** Someone who removes a message this often does not want it. */
export const maxRounds = 8;

/** Decides when to write; `live-steps.ts` decides what. */
export function createLiveReply(deps: LiveDeps): LiveReply {
  const { clock, gate, chat, messages, mostLive = Infinity } = deps;
  const steps = createLiveSteps(deps);
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  /** More text has arrived since the steps were last looked at. */
  let isAsked = false;
  let cancelTimer = noTimer;
  let faults = 0;
  let writes = 0;
  let isEnough = false;
  let notBefore = Number.NEGATIVE_INFINITY;

  const isOver = () =>
    stopping.signal.aborted || isEnough || faults >= maxFaults || messages.isDone() || messages.rounds() > maxRounds;

  function wake(ms: number): void {
    cancelTimer();
    cancelTimer = clock.after(ms, start);
  }

  function start(): void {
    if (running !== null || isOver()) return;
    cancelTimer();
    const pauseMs = notBefore - clock.elapsed();
    if (pauseMs > 0) return wake(pauseMs);
    isAsked = false;
    running = run().finally(() => {
      running = null;
      if (isAsked) start();
    });
  }

  async function run(): Promise<void> {
    while (!isOver()) {
      try {
        await deps.open();
        if (messages.liveWrites() >= mostLive) return;
        const waitMs = steps.waitMs();
        const search = steps.search(paced);
        if (waitMs === null || (search === null && nextWrite() === null)) return keepDraft();
        if (waitMs > 0) return wake(waitMs);
        if (notBefore > clock.elapsed()) return wake(notBefore - clock.elapsed());
        if (search === null) await paced(writeNext);
        else await search();
        faults = 0;
        takeTime();
      } catch (error) {
        if (stopping.signal.aborted) return;
        deps.log('debug', 'a reply could not be updated while it was written', { error: errorText(error), faults });
        return takeFault(error);
      }
    }
  }

  const paced: Paced = (write) => gate.run(chat, write, { signal: stopping.signal });
  const nextWrite = () => (isOver() ? null : steps.write());

  /** Writes the text as it is when the write may start. */
  async function writeNext(): Promise<void> {
    const write = nextWrite();
    if (write === null) return;
    if (mostLive !== Infinity) await messages.countLive();
    await write();
  }

  /** A draft expires by itself, so it is shown again while a tool works. */
  function keepDraft(): void {
    const leftMs = steps.draftLeftMs();
    if (leftMs !== null) wake(leftMs);
  }

  function takeTime(): void {
    const everyMs = deps.liveEveryMs === undefined ? 0 : deps.liveEveryMs(Math.max(++writes, messages.liveWrites()), chat);
    if (everyMs === null) isEnough = true;
    else notBefore = clock.elapsed() + everyMs;
  }

  function takeFault(error: unknown): void {
    const fault = faultOf(error);
    if (fault !== 'pause') faults = fault === 'unknown' ? faults + 1 : maxFaults;
    const pauseMs = pauseMsOf(error) ?? backOffMs(faultPause, faults + 1);
    notBefore = clock.elapsed() + pauseMs;
    wake(pauseMs);
  }

  function changed(): void {
    isAsked = true;
    if (running === null) queueMicrotask(start);
  }

  return {
    changed,
    retracted() {
      steps.retracted();
      changed();
    },
    async stop() {
      stopping.abort();
      cancelTimer();
      await running;
    },
  };
}

const noTimer = (): void => undefined;
