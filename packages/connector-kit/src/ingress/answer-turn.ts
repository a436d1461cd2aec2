import type { HandleResult } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, type ServiceError } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { CoreApi, StartContext } from '../connector.ts';
import { pause } from '../retry.ts';
import { createLazyReply, type LazyReply, type OpenReply } from './lazy-reply.ts';
import type { OpenTurn, OpenTurns, Shown } from './open-turns.ts';
import { isPassing, pauseMs, toFault } from './passing-faults.ts';
import { tooSlow } from './too-slow.ts';

export type AnswerDeps = {
  core: Pick<CoreApi, 'handleStream' | 'delivered'>;
  turns: Pick<OpenTurns, 'accept' | 'close'>;
  clock: Clock;
  log: StartContext['log'];
  openReply: OpenReply;
  /** Aborts when the connector stops: open turns stay open, and its next process asks for them again. */
  signal: AbortSignal;
};

/**
 * How long the result of an accepted turn is requested again while the core is unreachable, ms. After that the error is shown;
 * the core can still push the answer.
 */
const askAgainMs = 15 * 60_000;
/** How long showing a reply may take, ms. The core gives up on a delivery after the same time. */
const showMs = 10 * 60_000;
/** Attempts for a message that the core is about to resume. */
const maxConflicts = 5;

/**
 * Asks the core until the turn has ended, shows the result, and closes the turn. Never rejects. `before`: settles when the earlier turns of
 * its conversation have ended; `onSafe`: the update may be acknowledged.
 */
export async function answerTurn(deps: AnswerDeps, turn: OpenTurn, before: Promise<void>, onSafe: () => void): Promise<void> {
  const reply = createLazyReply(deps.openReply, turn, before);
  const asked = await ask(deps, turn, reply, onSafe);
  if (asked === null) return;
  onSafe();
  const shown = 'result' in asked ? await show(deps, reply, asked.result) : await showFailure(deps, turn, reply, asked.error);
  await close(deps, turn, shown);
  if (shown !== null) deps.core.delivered(shown.turn_id, shown.error);
}

/** Null when the connector stops first. */
async function ask(
  deps: AnswerDeps,
  turn: OpenTurn,
  reply: LazyReply,
  onSafe: () => void,
): Promise<{ result: HandleResult } | { error: ServiceError } | null> {
  const { core, clock, signal } = deps;
  let acceptedAt: number | null = null;
  const onAccepted = (turnId: string) => {
    acceptedAt ??= clock.elapsed();
    keepAcceptance(deps, turn, turnId);
    onSafe();
    safely(deps, () => reply.accepted(turnId));
  };
  for (let tries = 1; ; tries++) {
    const again = turn.isAgain || tries > 1;
    const [asked] = await Promise.allSettled([
      core.handleStream(turn.envelope, reply.handlers, { confirm: true, again, onAccepted }),
    ]);
    if (asked.status === 'fulfilled') return { result: asked.value };
    const error = toFault(asked.reason);
    const mayPass = error.code === 'conflict' ? tries < maxConflicts : isPassing(error);
    if (mayPass && signal.aborted) return null;
    const isLate = acceptedAt !== null && clock.elapsed() - acceptedAt > askAgainMs;
    if (!mayPass || isLate) return { error };
    safely(deps, reply.retract);
    if (!(await pause(clock, pauseMs(error, tries), signal))) return null;
  }
}

/** Without this, the turn of a reply is known only after asking the core. */
function keepAcceptance({ turns, log }: AnswerDeps, turn: OpenTurn, turnId: string): void {
  turns.accept(turn, turnId).catch((error: unknown) => {
    log('warn', 'the turn of an open message could not be saved', { turn: turnId, error: errorText(error) });
  });
}

/** Showing a reply may throw: the turn continues, and showing its end reports the error again. */
function safely({ log }: AnswerDeps, work: () => void): void {
  try {
    work();
  } catch (error) {
    log('error', 'a reply could not be started or withdrawn', { error: errorText(error) });
  }
}

/** Whether the result could be shown. Null when there was nothing to show. */
async function show({ clock, log }: AnswerDeps, reply: LazyReply, result: HandleResult): Promise<Shown | null> {
  const { turn_id, outcome } = result;
  try {
    await inTime(reply.finish(result), showMs, tooSlow(showMs), clock);
    return outcome === 'delivered' || outcome === 'observed' ? null : { turn_id };
  } catch (error) {
    log('error', 'a reply could not be shown', { turn: turn_id, error: errorText(error) });
    return { turn_id, error: errorText(error) };
  }
}

/** The core has recorded the failure; it does not wait for its delivery. */
async function showFailure({ clock, log }: AnswerDeps, turn: OpenTurn, reply: LazyReply, error: ServiceError): Promise<null> {
  const { chat, updates, turnId } = turn;
  log('error', 'a message was not answered', { chat, updates, turn: turnId, code: error.code, error: error.message });
  try {
    await inTime(reply.fail(error), showMs, tooSlow(showMs), clock);
  } catch (fault) {
    log('error', 'the failure of a turn could not be shown', { chat, updates, turn: turnId, error: errorText(fault) });
  }
  return null;
}

/** Repeats until the state is stored: otherwise the next process would ask for the turn and show it again. */
async function close({ turns, clock, log, signal }: AnswerDeps, turn: OpenTurn, shown: Shown | null): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await turns.close(turn, shown);
    } catch (error) {
      log('error', 'an answered message could not be closed', { turn: turn.turnId, error: errorText(error) });
      if (!(await pause(clock, pauseMs(error, tries), signal))) return;
    }
  }
}
