import type { HistoryMessage } from '@svc/contract/session.ts';
import { t } from '../language/t.ts';
import { type ChatFrame, isOfTurn } from '../protocol.ts';
import { applyPart, phaseOf } from './apply-part.ts';
import { emptyTurn, isRunning, type Said, type Turn, type Undelivered } from './turn.ts';

/** Text that streams is shown so often; React is notified of nothing in between. */
const flushMs = 50;

/** How the key of a turn begins whose message is not known. */
const unnamed = 'turn:';

type Timer = { set(run: () => void, ms: number): unknown; clear(timer: unknown): void };
type Options = { now?: () => number; timer?: Timer };

const browserTimer: Timer = {
  set: (run, ms) => setTimeout(run, ms),
  clear: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/**
 * The turns of one conversation, by key and in their order: for React's `useSyncExternalStore`, and outside React, so that what streams costs
 * no rendering of what stands. Everything is put in place by its key; nothing is ever appended twice.
 */
export class Conversation {
  #turns = new Map<string, Turn>();
  #keyOfTurn = new Map<string, string>();
  #keys: readonly string[] = [];
  #listeners = new Set<() => void>();
  #undelivered: ReadonlyMap<string, Undelivered> = new Map();
  #pending: unknown = null;
  #moved = false;
  #now: () => number;
  #timer: Timer;

  constructor({ now = Date.now, timer = browserTimer }: Options = {}) {
    this.#now = now;
    this.#timer = timer;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The keys in their order; the same array until one comes or goes. */
  keys = (): readonly string[] => this.#keys;
  turn = (key: string): Turn | undefined => this.#turns.get(key);
  isRunning = (): boolean => this.#keys.slice(-20).some((key) => isRunning(this.#turns.get(key) as Turn));
  /** What another tab needs to show what runs. */
  running = (): Turn[] =>
    this.#keys
      .slice(-20)
      .flatMap((key) => this.#turns.get(key) ?? [])
      .filter(isRunning);

  /** Takes a frame of the stream. Frames that are of no turn change nothing but `forgotten`. */
  apply(frame: ChatFrame): void {
    if (frame.type === 'forgotten') return this.clear();
    if (!isOfTurn(frame)) return;
    if (frame.type === 'undelivered' && !this.#keyOfTurn.has(frame.turn_id)) return;
    const key = this.#keyFor(frame.turn_id, frame.type === 'inject' ? (frame.message_id ?? this.#saidHere(frame.text)) : null);
    const before = this.#turns.get(key) ?? this.#newTurn(key);
    const after = applyPart(before, frame, this.#now());
    this.#put(after.turnId === frame.turn_id ? after : { ...after, turnId: frame.turn_id });
    if (frame.type === 'delta' || frame.type === 'thinking') this.#notifySoon();
    else this.#notify();
  }

  /** A message of this device, before anybody else knows it. */
  say(key: string, said: Said): void {
    if (this.#turns.has(key)) return;
    this.#put({ ...this.#newTurn(key), said, phase: 'sending' });
    this.#notify();
  }

  /** What became of sending it. `turnId`: null while its turn has not begun. What the stream said meanwhile is known better. */
  sent(key: string, turnId: string | null): void {
    const turn = this.#turns.get(key);
    if (turn === undefined) return;
    if (turnId === null) {
      if (turn.turnId === null) this.#put({ ...turn, phase: 'queued', fault: null });
      return this.#notify();
    }
    this.#keyFor(turnId, key);
    if (turn.turnId === null && this.#turns.get(key) === turn) this.#put({ ...turn, turnId, phase: 'queued', fault: null });
    this.#notify();
  }

  notSent(key: string, phase: 'sending' | 'unsent', fault: string | null): void {
    const turn = this.#turns.get(key);
    if (turn === undefined || turn.turnId !== null) return;
    this.#put({ ...turn, phase, fault });
    this.#notify();
  }

  remove(key: string): void {
    if (!this.#turns.delete(key)) return;
    this.#moved = true;
    this.#notify();
  }

  /** Takes what another tab knows of turns that run. */
  adopt(turns: readonly Turn[]): void {
    for (const turn of turns) {
      if (turn.turnId !== null) this.#keyOfTurn.set(turn.turnId, turn.key);
      this.#put(turn);
    }
    this.#notify();
  }

  /** Merges a page of the history, oldest first. It wins over what is known, but for a turn that runs here. */
  merge(messages: readonly HistoryMessage[]): void {
    const merged = new Set<string>();
    for (const message of messages) {
      const isWord = message.role === 'operator' && message.message_id === null;
      const key = this.#keyFor(message.turn_id, isWord ? this.#saidHere(message.text) : message.message_id);
      const before = this.#turns.get(key) ?? emptyTurn(key, message.at);
      this.#put(withMessage({ ...before, turnId: message.turn_id }, message));
      merged.add(key);
    }
    this.#keepBehind(merged);
    this.#notify();
  }

  /** Replies that have not reached their channel, by the ids of their turns, in the place of those that were known before. Turns that are read later show theirs. */
  setUndelivered(undelivered: ReadonlyMap<string, Undelivered>): void {
    const before = this.#undelivered;
    this.#undelivered = undelivered;
    for (const turn of this.#turns.values()) {
      if (turn.turnId !== null && before.has(turn.turnId) && !undelivered.has(turn.turnId))
        this.#put({ ...turn, undelivered: null });
      else if (turn.turnId !== null && undelivered.has(turn.turnId)) this.#put(turn);
    }
    this.#notify();
  }

  clear(): void {
    this.#turns.clear();
    this.#keyOfTurn.clear();
    this.#moved = true;
    this.#notify();
  }

  /** What this device said in another's conversation has no id there: its turn is found by its words. */
  #saidHere(text: string): string | null {
    const own = this.#keys.find((key) => {
      const turn = this.#turns.get(key);
      return turn?.turnId === null && (turn.phase === 'queued' || turn.phase === 'sending') && turn.said?.text === text;
    });
    return own ?? null;
  }

  #keyFor(turnId: string, messageId: string | null): string {
    const known = this.#keyOfTurn.get(turnId);
    if (known !== undefined && (messageId === null || !known.startsWith(unnamed))) return known;
    const key = messageId ?? unnamed + turnId;
    this.#keyOfTurn.set(turnId, key);
    if (known !== undefined) this.#join(known, key);
    return key;
  }

  /** Frames of a turn came before it was known whose message it answers: what they said belongs to the message. */
  #join(from: string, to: string): void {
    const early = this.#turns.get(from);
    if (early === undefined || from === to) return;
    const turn = this.#turns.get(to);
    this.#turns.delete(from);
    this.#moved = true;
    this.#put({ ...early, key: to, said: turn?.said ?? early.said, at: turn?.at ?? early.at });
  }

  #put(turn: Turn): void {
    this.#moved ||= this.#turns.get(turn.key)?.at !== turn.at;
    const undelivered = this.#undelivered.get(turn.turnId ?? '');
    this.#turns.set(turn.key, undelivered === undefined ? turn : { ...turn, undelivered });
  }

  /** A new turn comes last, whatever the clock of this device says beside the server's. */
  #newTurn(key: string): Turn {
    const last = this.#turns.get(this.#keys.at(-1) ?? '')?.at ?? 0;
    return emptyTurn(key, Math.max(this.#now(), last + 1));
  }

  /** What was said after a turn stays behind it, also where the history, which says when that was by the server's clock, does not know it yet. */
  #keepBehind(merged: ReadonlySet<string>): void {
    let last = -Infinity;
    for (const key of this.#keys) {
      const turn = this.#turns.get(key);
      if (turn === undefined) continue;
      if (!merged.has(key) && turn.at <= last) this.#put({ ...turn, at: last + 1 });
      if (merged.has(key) || last > -Infinity) last = Math.max(last + 1, turn.at);
    }
  }

  #order(): void {
    if (!this.#moved) return;
    this.#moved = false;
    const turns = [...this.#turns.values()].toSorted((one, other) => one.at - other.at);
    if (turns.length !== this.#keys.length || turns.some(({ key }, index) => key !== this.#keys[index]))
      this.#keys = turns.map(({ key }) => key);
  }

  #notifySoon(): void {
    this.#pending ??= this.#timer.set(() => this.#notify(), flushMs);
  }

  #notify(): void {
    if (this.#pending !== null) this.#timer.clear(this.#pending);
    this.#pending = null;
    this.#order();
    for (const listener of this.#listeners) listener();
  }
}

/** Of a turn that runs, the stream says more than its history. */
function withMessage(turn: Turn, message: HistoryMessage): Turn {
  const { role, sender, text, attachments, tools, state, outcome, at } = message;
  const isSaid = role === 'user' || role === 'operator';
  const ended = state !== 'queued' && state !== 'running';
  const phase = ended ? phaseOf(outcome, state === 'failed') : turn.phase;
  if (role === 'error') return { ...turn, phase: 'failed', fault: text };
  if (!isSaid) return { ...turn, phase, ...withAnswer(turn, message) };
  const said: Said = { origin: role === 'operator' ? 'inject' : 'message', sender, text, attachments };
  const steps =
    turn.steps.length > 0
      ? turn.steps
      : tools.map(({ id, name, ok }) => ({ id, name, input: null, ok, output: '', begun: null, ended: null }));
  // What was answered follows, whole.
  const answer = ended ? { text: '', files: [] } : {};
  return { ...turn, ...answer, said, at, steps, phase: turn.phase === 'sending' && !ended ? 'queued' : phase };
}

/** An answer may be several messages: texts, and files without a text. */
function withAnswer({ text: before, files }: Turn, { text, attachments }: HistoryMessage): Pick<Turn, 'text' | 'files'> {
  const added = attachments.map(({ path, name = t('file'), mime = '' }) => ({ path, name, mime }));
  return { text: [before, text].filter((part) => part !== '').join('\n\n'), files: [...files, ...added] };
}
