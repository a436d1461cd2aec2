import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import type { Message, Records, Run } from './records.ts';

type LiveRun = Run & { key: string; name: string; habit: Message['habit']; say: (event: EngineEvent | 'throw' | 'stop') => void };

/** How long the core waits for an engine that it told to end, with the settings of the model, ms. */
const graceMs = 2000;

/** The engine of the model: each run does what the steps say, and each run's beginning is checked. */
export function createModelEngine(records: Records, clock: Pick<Clock, 'now'>, slots: number) {
  let live: LiveRun[] = [];
  let life = -1;
  let isAutomatic = false;
  let isClaimed = (_key: string): boolean => false;

  const isOver = (run: Run) => run.hasEnded || (run.toldToEndAt !== null && clock.now() - run.toldToEndAt >= graceMs);
  const active = () => live.filter((run) => !isOver(run));

  function begin(request: EngineRequest, signal: AbortSignal, say: LiveRun['say']): LiveRun {
    const { conversationKey: key, text, prompt } = request;
    const names = text.split('\n');
    const busy = active();
    records.rule(!busy.some((run) => run.key === key), `${text} began while another turn of ${key} ran`);
    records.rule(busy.length < slots, `${text} began while all slots were taken`);
    records.rule(!isClaimed(key), `${text} ran in a claimed session`);
    const order = records.nextRun();
    const name = names.at(-1) ?? '';
    const run: LiveRun = {
      life,
      key,
      name,
      say,
      order,
      reply: `reply ${order} to ${name}.`,
      isResumed: prompt.includes('the service was restarted'),
      habit: isAutomatic ? 'quick' : (records.find(name)?.habit ?? 'quick'),
      hasEnded: false,
      toldToEndAt: signal.aborted ? clock.now() : null,
    };
    for (const part of names) checkMessage(records, part, run);
    checkNotes(records, prompt, run);
    live.push(run);
    return run;
  }

  const script: EngineScript = async function* (request, signal) {
    const events: (EngineEvent | 'throw' | 'stop')[] = [];
    let wake = () => undefined as void;
    const run = begin(request, signal, (event) => {
      events.push(event);
      wake();
    });
    const onAbort = () => {
      run.toldToEndAt ??= clock.now();
      if (run.habit !== 'deaf') run.say({ type: 'aborted' });
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    yield { type: 'session', engineSessionId: request.resume ?? `session ${run.order}`, resumed: false, model: null };
    if (run.habit === 'quick') for (const event of says(run.reply)) run.say(event);
    for (;;) {
      if (events.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const event = events.shift();
      if (event === undefined) continue;
      run.hasEnded = event === 'throw' || event === 'stop' || ['done', 'failed', 'aborted'].includes(event.type);
      if (event === 'throw') throw new Error(`the engine broke at ${run.name}`);
      if (event === 'stop') return;
      yield event;
      if (run.hasEnded) return;
    }
  };

  return {
    script,
    /** Runs that were not told to end. */
    working: () => active().filter((run) => run.toldToEndAt === null),
    /** Every run that has not said its last word, also those the core has left behind. */
    unfinished: () => live.filter((run) => !run.hasEnded),
    isRunning: (key: string) => active().some((run) => run.key === key),
    /** From here on every run answers at once. */
    automatic: () => void (isAutomatic = true),
    newLife(claimed: (key: string) => boolean): void {
      live = [];
      life++;
      isClaimed = claimed;
      for (const message of records.messages) message.runsThisLife = 0;
    },
    life: () => life,
  };
}

/** The rules for a message that begins to run. */
function checkMessage(records: Records, name: string, run: LiveRun): void {
  const message = records.find(name);
  if (message === undefined) return records.rule(false, `${name} ran and nobody sent it`);
  const { runsAccepted, asks } = message;
  records.rule(message.runsThisLife === 0, `${name} ran twice in one life of the core`);
  records.rule(
    !asks.some((ask) => ask.state === 'answered' && ask.outcome !== 'merged'),
    `${name} ran again after it was answered`,
  );
  records.rule(run.isResumed || !message.isKnownToRun, `${name} ran again after a crash without a word about that`);
  records.rule(!run.isResumed || !runsAccepted.some((earlier) => earlier.isResumed), `${name} was resumed twice`);
  records.rule(message.sender !== 'stranger', `${name} of a stranger reached the engine`);
  message.runs.push(run);
  runsAccepted.push(run);
  message.runsThisLife++;
  checkOrder(records, message, run);
}

/** Messages of a key run in the order they arrived, operators' words before all that wait. */
function checkOrder(records: Records, message: Message, run: Run): void {
  if (message.kind === 'inject' || message.isGathered) return;
  const isEarlier = (earlier: Run | undefined) => earlier !== undefined && earlier.life === run.life && earlier !== run;
  for (const other of records.messages) {
    if (other.key !== message.key || other === message || other.isGathered) continue;
    if (other.kind === 'message') {
      const isOvertaken = isEarlier(other.runsAccepted.at(-1)) && other.arrival > message.arrival;
      records.rule(!isOvertaken, `${other.name} ran before ${message.name}, which came first`);
    } else if (other.runsThisLife === 0 && other.asks.some((ask) => ask.state === 'open' && ask.life === run.life)) {
      other.overtakenBy++;
      records.rule(other.overtakenBy <= other.mayBeOvertakenBy, `${message.name} ran before the operator's ${other.name}`);
    }
  }
}

const wasAnswered = (message: Message | undefined) => message?.asks.some((ask) => ask.state === 'answered') === true;

/** A session sees each announcement that is for it once, unless the turn that saw it was cut off by a crash. */
function checkNotes({ notes, rule, find }: Records, prompt: string, { key, name, life }: LiveRun): void {
  for (const { text, target, arrival, seenBy } of notes) {
    const seen = seenBy.get(key);
    const isFor = target === '*' || target === key;
    if (!prompt.includes(text)) {
      const isDue = isFor && seen === undefined && arrival < (find(name)?.arrival ?? 0) && notes.length <= 15;
      rule(!isDue, `${name} was not told ${text}`);
      continue;
    }
    const isAgain = seen !== undefined && seen.name !== name;
    const wasLost = seen !== undefined && seen.life < life && !wasAnswered(find(seen.name));
    rule(
      isFor && (!isAgain || wasLost),
      `${name} was told ${text}, which ${isFor ? `${seen?.name} was told before` : `is for ${target}`}`,
    );
    seenBy.set(key, { name, life });
  }
}
