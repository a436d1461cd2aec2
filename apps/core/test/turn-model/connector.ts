import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult, TurnProgress } from '@svc/contract/turn.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import type { Caller } from '../../src/turn/turn.ts';
import type { TestCore } from '../open-test-core.ts';
import type { Ask, Message, Records } from './records.ts';
import type { Showing } from './steps.ts';

type Said = { turnId: string; isShown: boolean };
type Asking = { isLink: boolean; streams: boolean; showing: Showing };

/**
 * Everybody who asks the core, with the manners of the connector link and of `POST /v2/handle`: over the link a named
 * message is sent again after a crash, and what became of a reply is said until the core surely has it.
 */
export function createModelConnectors(records: Records) {
  let core: TestCore;
  let life = 0;
  let requests = 0;
  /** What became of replies; said again to every new core. */
  const confirmed: Said[] = [];

  const isHere = (ask: Ask) => ask.life === life && !ask.isGone;

  function newAsk(message: Message, isLink: boolean, showing: Showing): Ask {
    const open = { state: 'open', outcome: null, error: null, turnId: null, toShow: null, abort: null } as const;
    const ask: Ask = { message, order: records.nextAsk(), life, isLink, showing, isGone: false, ...open };
    message.asks.push(ask);
    return ask;
  }

  function callerOf(ask: Ask, streams: boolean, isAgain: boolean): Caller {
    const asked = life;
    const here = () => asked === life && !ask.isGone;
    const sink = (frame: TurnProgress) => {
      if (!here()) return;
      ask.message.isKnown = true;
      if (frame.type !== 'queued') ask.message.isKnownToRun = true;
    };
    return { sink: streams ? sink : null, isGone: () => !here(), isAgain };
  }

  function start(ask: Ask, ended: Promise<HandleResult | InjectAnswer>): void {
    const asked = life;
    ended.then(
      (result) => asked === life && answered(ask, result),
      (error: unknown) => asked === life && failed(ask, error),
    );
  }

  function answered(ask: Ask, result: HandleResult | InjectAnswer): void {
    const { message } = ask;
    const { outcome, turn_id } = result;
    const text = 'reply' in result ? result.reply : result.actions.map((action) => action.text).join('');
    if (ask.isGone) return core.context.pipeline.pendingAcks.callerGone(turn_id);
    Object.assign(ask, { state: 'answered', outcome, turnId: turn_id } satisfies Partial<Ask>);
    message.isKnown = true;
    checkAnswer(records, ask, text);
    checkAbort(ask);
    if (text === '' || message.kind === 'inject' || !core.context.pipeline.pendingAcks.isExpected(turn_id)) return;
    core.context.pipeline.pendingAcks.accepted(turn_id);
    if (ask.showing === 'lost') leaveBehind(turn_id);
    else {
      ask.toShow = text;
      if (ask.showing !== 'late' || !ask.isLink) show(ask, ask.showing !== 'cannot');
    }
  }

  const leaveBehind = (turnId: string) => core.context.pipeline.pendingAcks.abandoned(turnId);

  /** The connector has tried to show the answer, and says what became of it. */
  function show(ask: Ask, isShown = true): void {
    if (ask.toShow === null || ask.turnId === null) return;
    if (isShown) ask.message.shown.push(ask.toShow);
    ask.toShow = null;
    const said = { turnId: ask.turnId, isShown };
    confirmed.push(said);
    void confirm(said);
  }

  const confirm = ({ turnId, isShown }: Said): Promise<void> =>
    isShown
      ? core.context.pipeline.pendingAcks.delivered(turnId)
      : core.context.pipeline.pendingAcks.undelivered(turnId, 'the channel said no');

  function failed(ask: Ask, error: unknown): void {
    const { code, message } = toServiceError(error);
    Object.assign(ask, { state: 'failed', error: code } satisfies Partial<Ask>);
    if (code !== 'queue_full') ask.message.isKnown = true;
    checkError(records, ask, code, message);
    checkAbort(ask);
  }

  /** A turn that was aborted while it ran ends in silence, and its session goes on with the same engine session. */
  function checkAbort({ message, abort, outcome, error }: Ask): void {
    if (abort?.life !== life) return;
    records.rule(outcome === 'aborted', `${message.name} was aborted and ended as ${outcome ?? error}`);
    const isKept = [null, engineSessionOf(core, message.key)].includes(abort.engineSession);
    records.rule(isKept, `the abort of ${message.name} changed its engine session`);
  }

  function askAgain(ask: Ask): void {
    const { message } = ask;
    ask.life = life;
    if (stateOf(core, message) === null) message.arrival = records.nextArrival();
    start(ask, core.context.pipeline.handle(envelopeOf(message), callerOf(ask, true, true), `request${++requests}`));
  }

  return {
    handle(message: Message, { isLink, streams, showing }: Asking): void {
      const ask = newAsk(message, isLink, showing);
      start(ask, core.context.pipeline.handle(envelopeOf(message), callerOf(ask, streams, false), `request${++requests}`));
    },

    inject(message: Message, interrupt: boolean): void {
      const ask = newAsk(message, false, 'now');
      const injection = { conversation_key: message.key, text: message.name, by: message.name, interrupt };
      start(ask, core.context.pipeline.inject(injection, callerOf(ask, false, false), `request${++requests}`));
    },

    /** The caller goes away: its link breaks, or it hangs up. */
    leave(ask: Ask): void {
      ask.isGone = true;
      if (ask.state === 'open') ask.state = 'broken';
      if (ask.toShow === null || ask.turnId === null) return;
      ask.toShow = null;
      leaveBehind(ask.turnId);
    },

    show,
    open: () => records.asks().filter((ask) => ask.state === 'open' && isHere(ask)),
    unshown: () => records.asks().filter((ask) => ask.toShow !== null && !ask.isGone),

    /** The core is killed: from here on nothing comes from it. */
    cut: () => void life++,
    life: () => life,

    /** A new core is there, and not yet found by those who asked. */
    newCore: (next: TestCore) => void (core = next),

    /** The new core is found. What was asked over a link and has an id is asked again. */
    relink(): void {
      for (const said of confirmed) void confirm(said);
      for (const ask of records.asks()) {
        if (ask.state !== 'open') continue;
        if (ask.isLink && ask.message.isNamed && !ask.isGone) askAgain(ask);
        else ask.state = 'broken';
      }
    },
  };
}

/** What the journal says of a message with an id; null when it does not have it. */
export function stateOf({ context }: TestCore, { key, name }: Message): string | null {
  const select = 'SELECT state FROM turn WHERE conversation_key = ? AND message_id = ?';
  return (context.db.raw.prepare(select).get(key, name)?.['state'] as string | undefined) ?? null;
}

export const engineSessionOf = ({ context }: TestCore, key: string): string | null => {
  const row = context.db.raw.prepare('SELECT engine_session_id FROM session WHERE conversation_key = ?').get(key);
  return (row?.['engine_session_id'] as string | null | undefined) ?? null;
};

export const envelopeOf = (message: Message): Envelope => ({
  channel: message.key.split(':')[0] ?? '',
  conversation_key: message.key,
  message_id: message.isNamed ? message.name : undefined,
  sender: { raw_id: message.sender },
  content: { text: message.name },
  channel_context: message.isRouted ? { chatId: message.key } : {},
  intake: message.isGathered ? { debounce_ms: 300 } : undefined,
});

/** The rules for an answer. */
function checkAnswer(records: Records, { message, outcome }: Ask, text: string): void {
  const { name, runs, wasAborted } = message;
  const isReply = outcome === 'replied';
  records.rule(!isReply || runs.some(({ reply }) => text.endsWith(reply)), `${name} was answered with "${text}"`);
  records.rule(isReply || outcome === 'denied' || text === '', `${name} ended as ${outcome} and says "${text}"`);
  records.rule((outcome === 'denied') === (message.sender === 'stranger'), `${name} of ${message.sender} ended as ${outcome}`);
  records.rule(outcome !== 'aborted' || wasAborted, `${name} ended as aborted and nobody had told it to`);
  records.rule(!['command', 'blocked'].includes(outcome ?? ''), `${name} ended as ${outcome}`);
}

/** The rules for a failure: it is one that the engine, the limits, the operator or a crash explain. */
function checkError(records: Records, { message }: Ask, code: string, text: string): void {
  const { kind, failures, name } = message;
  const always = ['queue_full', 'engine_stalled', 'turn_too_long', 'turn_interrupted'];
  const isFine = always.includes(code) || failures.has(code) || (kind === 'inject' && ['not_found', 'conflict'].includes(code));
  records.rule(isFine, `${name} failed with ${code}: ${text}`);
}
