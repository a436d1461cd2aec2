import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, upstream } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';
import type { ChatGate } from './chat-gate.ts';
import { maxRounds } from './live-reply.ts';
import type { WhenGone } from './live-steps.ts';
import type { ReplyMessages } from './reply-messages.ts';
import type { Paced, Place } from './reply-platform.ts';
import { faultOf, pauseMsOf } from './write-fault.ts';

/** A part of a reply that is not text. `writes`: how many messages the platform counts it as. */
export type Extra = { (place: Place & { nonce: string }): Promise<unknown>; writes?: number };
/** `isOpen`: another text may replace it, such as the answer after an error. */
export type Ending = { pieces: readonly string[]; cuts: readonly number[]; extras: readonly Extra[]; isOpen?: boolean };

export type SettleDeps = {
  clock: Clock;
  gate: ChatGate;
  chat: string;
  messages: ReplyMessages;
  whenGone: WhenGone;
  answers?: string;
  /** Longest time without a successful write, ms. */
  withinMs: number;
  log: StartContext['log'];
  random?: () => number;
};

/** `isPaced`: it keeps the pace by itself. */
type Step = {
  kind: 'post' | 'edit' | 'remove' | 'extra';
  index: number;
  run(paced: Paced): Promise<void>;
  isPaced?: boolean;
  writes?: number;
};

const maxTries = 5;
const backOff = { firstMs: 500, maxMs: 15_000, jitter: [1, 1.2] } as const;

/**
 * Brings the messages of a reply to their final state, write by write, and retries each as the platform demands. Rejects when this takes
 * too long; the next call continues from what was written.
 */
export async function settleReply(deps: SettleDeps, ending: Ending, signal: AbortSignal | undefined): Promise<void> {
  const { messages, clock } = deps;
  let tries = 0;
  let since = clock.elapsed();
  for (;;) {
    const step = messages.isDone() ? null : await nextStep(deps, ending);
    if (step === null) break;
    const leftMs = deps.withinMs - (clock.elapsed() - since);
    const paced: Paced = (write) =>
      deps.gate.run(deps.chat, write, { urgent: true, withinMs: leftMs, writes: step.writes, ...(signal && { signal }) });
    try {
      if (step.kind === 'edit') await rest(clock, messages.heldEditMs(step.index), signal);
      await (step.isPaced === true ? step.run(paced) : paced(() => step.run(paced)));
      [tries, since] = [0, clock.elapsed()];
    } catch (error) {
      signal?.throwIfAborted();
      if (await getsOver(deps, step, error)) continue;
      const pauseMs = pauseAfter(deps, error, ++tries);
      const isPause = faultOf(error) === 'pause';
      if (isPause) tries--;
      if (pauseMs >= leftMs || (tries >= maxTries && step.kind !== 'remove')) throw error;
      if (tries >= maxTries) leave(deps, error);
      await rest(clock, pauseMs, signal);
    }
  }
  if (ending.isOpen !== true) await messages.finish();
}

/** First the text in order, then surplus messages, then what is not text. */
async function nextStep({ messages, answers }: SettleDeps, { pieces, cuts, extras }: Ending): Promise<Step | null> {
  for (const [index, text] of pieces.entries()) {
    if (index >= messages.count() && messages.mustFind())
      return { kind: 'post', index, run: (paced) => messages.find(text, { answers, paced }), isPaced: true };
    if (index >= messages.count())
      return { kind: 'post', index, run: () => messages.post(text, { isFinal: true, cuts, answers }) };
    if (messages.canEdit(index) && !messages.shows(index, text))
      return { kind: 'edit', index, run: () => messages.edit(index, text) };
  }
  const index = pieces.length;
  if (messages.hasStray()) return { kind: 'remove', index, run: (paced) => messages.findStray(paced), isPaced: true };
  if (messages.count() > index) await messages.giveUp(index, { isGone: false });
  if (messages.doomed() > 0) return { kind: 'remove', index, run: () => messages.removeOne() };
  const extra = extras[messages.extras()];
  return extra === undefined ? null : { kind: 'extra', index, run: () => messages.extra(extra), writes: extra.writes };
}

/** Whether the fault only changes the next step. @throws the fault if it is final */
async function getsOver(deps: SettleDeps, { kind, index }: Step, error: unknown): Promise<boolean> {
  const fault = faultOf(error);
  if (fault !== 'gone' && fault !== 'refused') return false;
  if (kind === 'remove') leave(deps, error);
  else if (kind === 'edit') await replace(deps, index, fault === 'gone');
  else throw error;
  return true;
}

/** Posts a new message after one that cannot be edited. */
async function replace({ messages, whenGone }: SettleDeps, index: number, isGone: boolean): Promise<void> {
  if (messages.rounds() > maxRounds) throw upstream('The messages of this reply are deleted as often as they are posted.');
  await messages.giveUp(index, { isGone });
  if (isGone && whenGone === 'end') await messages.finish();
}

function leave({ messages, log }: SettleDeps, error: unknown): void {
  log('warn', 'a message that is no longer needed could not be deleted', { error: errorText(error) });
  messages.leaveOne();
}

const pauseAfter = ({ random }: SettleDeps, error: unknown, tries: number): number =>
  faultOf(error) === 'pause' ? (pauseMsOf(error) ?? 1000) : backOffMs(backOff, tries, random);

function rest(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted(); // an already aborted signal emits no event
    const cut = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', cut);
      resolve();
    });
    signal?.addEventListener('abort', cut, { once: true });
  });
}
