import type { EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { endOnAbort } from '@svc/engine-kit/end-on-abort.ts';
import { createEventQueue, type EventQueue } from '@svc/engine-kit/event-queue.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { within } from '@svc/service-kit/within.ts';
import { shownTexts } from '@svc/engine-kit/shown-texts.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import { isImage, turnText } from '@svc/engine-kit/turn-text.ts';
import { createApprovals, type Approvals } from './approvals.ts';
import type { AppServer } from './app-server.ts';
import type { TurnNotification } from './codex-messages.ts';
import { RpcError, type Notification } from './json-rpc.ts';
import type { OnEnd } from './listeners.ts';
import { toolServersLimitMs } from './thread-config.ts';
import type { OpenedThread, Threads } from './threads.ts';
import { toEngineEvents } from './to-engine-event.ts';
import { toFailure } from './to-failure.ts';
import { createToolServerWatch, type ToolServerWatch } from './tool-server-watch.ts';
import { createTurnUsage, type TurnUsage } from './turn-usage.ts';

/** `isWarm`: the app-server was already open before this turn, and may have hung or died since. */
type Deps = {
  server: AppServer;
  threads: Pick<Threads, 'open' | 'keep' | 'giveUp'>;
  isWarm: boolean;
  /** Ends all processes that the turn's commands have started, including those that left their group. Never rejects. */
  endStarted(): Promise<void>;
};

/** How a turn ended: with its terminal event, or before it began, in a way from which another app-server can recover. */
export type TurnOutcome = 'finished' | 'server_gone';

/** How long an app-server that is already open may take to answer, ms. */
const answerLimitMs = 5000;
/** Time from an interrupt to the end of the turn, after which the thread is closed, ms. */
const interruptLimitMs = 2000;

/** Runs one turn on the app-server: loads the thread, starts the turn, passes on its events, and keeps the thread for a similar turn. */
export async function* runTurn(
  { server, threads, isWarm, endStarted }: Deps,
  request: EngineRequest,
  params: object,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent, TurnOutcome> {
  const queue = createEventQueue();
  const early = collectEarly(server);
  const opened = threads.open(params, request.resume);
  const thread = await (isWarm ? orGone(server, opened, () => true) : opened).finally(early.stop);
  if (thread === null) return 'server_gone';
  const watch = createToolServerWatch(thread.isLoaded ? [] : allowedToolServers(request).map(({ name }) => name));
  const approvals = request.ask === undefined ? null : createApprovals(request.ask);
  const stopAnswering = approvals === null ? null : server.answerFor(thread.id, approvals.answer);
  const { unsubscribe, hear, used, total, hasBegun } = listenToTurn(server, thread, {
    queue,
    watch,
    approvals,
    text: request.text,
  });
  for (const notification of early.seen) hear(notification);
  let hasUsedTools = false;
  let isWhole = false;
  try {
    if (request.resume !== null && !thread.resumed) yield unknownSession(request.resume);
    yield sessionOf(thread);
    const input = await toInput(request, !thread.resumed);
    // Codex waits only once for a server that was late; without this wait, its tools would then be missing in every turn.
    await within(Promise.race([watch.settled, queue.ended, aborted(signal)]), toolServersLimitMs);
    if (signal.aborted) return 'finished';
    if (isWarm && server.ending.aborted) return 'server_gone';
    const started = server.request<StartedTurn>('turn/start', { threadId: thread.id, input });
    // Codex answers before it asks the model, so until it reports something about the turn, none of its commands has run.
    const answer = await (isWarm ? orGone(server, started, () => server.ending.aborted && !hasBegun()) : started);
    if (answer === null) return 'server_gone';
    interruptOnAbort({ server, queue, used }, { threadId: thread.id, turnId: answer.turn.id }, signal);
    for await (const event of queue) {
      hasUsedTools ||= event.type === 'tool';
      if (event.type === 'aborted') await giveUp({ threads, thread, endStarted });
      isWhole = event.type === 'done' && !watch.hasMissed() && !hasUsedTools && request.purpose === undefined;
      yield event;
    }
    return 'finished';
  } finally {
    unsubscribe();
    stopAnswering?.();
    queue.end();
    // After an error, such as a missing tool server, the thread is released, so that the next turn loads it again. A command that a tool
    // has left in the background ends with its turn.
    if (isWhole) threads.keep(thread, params, total());
    else void giveUp({ threads, thread, endStarted: hasUsedTools ? endStarted : null });
  }
}

type Ended = { threads: Pick<Threads, 'giveUp'>; thread: OpenedThread; endStarted: Deps['endStarted'] | null };

/** Unloads a turn's thread, then ends what its commands left behind; if another turn has the thread by now, that turn's are among them. */
async function giveUp({ threads, thread, endStarted }: Ended): Promise<void> {
  if (await threads.giveUp(thread)) await endStarted?.();
}

/** The answer of an app-server that was already open; null when it has ended or hangs, and the turn can be given to another one. */
async function orGone<T>(server: AppServer, work: Promise<T>, isUntouched: () => boolean): Promise<T | null> {
  try {
    return await Promise.race([work, killWhenHung(server, work)]);
  } catch (error) {
    if (error instanceof RpcError || !isUntouched()) throw error;
    return null;
  }
}

/** Sends a quick request while the work may take its time. Rejects, after killing it, when the app-server hangs; else never settles. */
async function killWhenHung(server: AppServer, work: Promise<unknown>): Promise<never> {
  const sign = Promise.race([work, server.request('thread/loaded/list', {})]).catch(() => undefined);
  if (await within(sign, answerLimitMs)) return new Promise<never>(() => undefined);
  await server.kill();
  throw new Error(`codex did not answer within ${answerLimitMs / 1000} s and was stopped`);
}

type Input = { type: 'text'; text: string; text_elements: [] } | { type: 'localImage'; path: string };

async function toInput(request: EngineRequest, isNew: boolean): Promise<Input[]> {
  const images = request.attachments.filter(isImage);
  return [
    { type: 'text', text: turnText(request, { isNew, shown: images, texts: await shownTexts(request) }), text_elements: [] },
    ...images.map(({ path }): Input => ({ type: 'localImage', path })),
  ];
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));

type StartedTurn = { turn: { id: string } };

/** The signal interrupts the turn while it runs. */
function interruptOnAbort(
  { server, queue, used }: { server: AppServer; queue: EventQueue; used: () => EngineEvent },
  ids: { threadId: string; turnId: string },
  signal: AbortSignal,
): void {
  endOnAbort(signal, queue, {
    // A refusal means that the turn is already over; its last notification then ends our turn.
    interrupt: () => void server.request('turn/interrupt', ids).catch(() => undefined),
    // The app-server serves other turns too: the thread is released, and one that cannot be unloaded ends the app-server.
    kill: () => Promise.resolve(),
    graceMs: interruptLimitMs,
    lastWords: () => [used()],
  });
}

/** Where what the app-server says goes. */
type Heard = { queue: EventQueue; watch: ToolServerWatch; approvals: Approvals | null };

type Listening = {
  unsubscribe(): void;
  /** Handles notifications that came before anyone listened. */
  hear(notification: Notification): void;
  /** The usage of the turn so far. */
  used(): EngineEvent;
  /** The usage of the thread including the turn, if known. */
  total: TurnUsage['total'];
  /** True once any notification about the turn itself has arrived. */
  hasBegun(): boolean;
};

/** Adds all of the app-server's notifications about this thread's turn to the queue, including the terminal event. */
function listenToTurn(
  server: AppServer,
  thread: OpenedThread,
  { queue, watch, approvals, text }: Heard & { text: string },
): Listening {
  let usage = createTurnUsage(thread.used);
  let resetsAt: number | null = null;
  let said = 0;
  let hasBegun = false;
  const finish = (...events: EngineEvent[]) => {
    for (const event of events) queue.push(event);
    queue.end();
  };
  const used = (): EngineEvent => ({
    type: 'usage',
    usage: usage.read() ?? estimateUsage({ input: text, output: { length: said } }),
  });
  const fail = (failure: EngineFailure) => finish(...(usage.read() === null ? [] : [used()]), { type: 'failed', failure });
  const onEnd: OnEnd = (reason, overflow = null) =>
    fail(overflow ?? { code: 'engine_crashed', message: `${reason}. Try again.`, retryable: true });
  const onNotification = (raw: Notification) => {
    resetsAt = limitEnd(raw) ?? resetsAt;
    const notification = forThread(raw, thread.id);
    if (notification === null) return;
    hasBegun ||= /^(turn|item)\//.test(notification.method);
    watch.saw(notification);
    approvals?.saw(notification);
    for (const event of toEngineEvents(notification)) {
      if (event.type === 'delta' || event.type === 'thinking') said += event.text.length;
      queue.push(event);
    }
    // The turn is priced by the new model.
    if (notification.method === 'model/rerouted') queue.push(sessionOf({ ...thread, model: notification.params.toModel }));
    // Loading a thread reports the usage of its last turn again.
    if (notification.method === 'turn/started') usage = createTurnUsage(usage.total());
    if (notification.method === 'thread/tokenUsage/updated') usage.update(notification.params.tokenUsage);
    if (notification.method !== 'turn/completed') return;
    const { status, error } = notification.params.turn;
    if (status === 'failed') fail(toFailure(error, resetsAt));
    else finish(...watch.missing(), used(), { type: status === 'interrupted' ? 'aborted' : 'done' });
  };
  const unsubscribe = server.subscribe(onNotification, onEnd);
  return { unsubscribe, hear: onNotification, used, total: () => usage.total(), hasBegun: () => hasBegun };
}

/** When the exhausted limits of the account end, epoch s; null when the notification is about something else. */
function limitEnd({ method, params }: Notification): number | null {
  if (method !== 'account/rateLimits/updated') return null;
  const { primary, secondary } = (params.rateLimits ?? {}) as Record<string, RateWindow | null | undefined>;
  const ends = [primary, secondary].flatMap((window) =>
    window && window.usedPercent >= usedUpPercent && window.resetsAt ? [window.resetsAt] : [],
  );
  return ends.length === 0 ? null : Math.max(...ends);
}

type RateWindow = { usedPercent: number; resetsAt: number | null };
const usedUpPercent = 100;

/** More than the number of tool servers of all threads that load at once. */
const maxEarly = 1000;

/** Collects notifications while a thread loads and its id is not yet known: failures of tool servers, and the thread's usage so far. */
function collectEarly(server: AppServer): { seen: readonly Notification[]; stop(): void } {
  const seen: Notification[] = [];
  const stop = server.subscribe((notification) => {
    if (earlyMethods.has(notification.method) && seen.length < maxEarly) seen.push(notification);
  });
  return { seen, stop };
}

const earlyMethods = new Set(['mcpServer/startupStatus/updated', 'thread/tokenUsage/updated']);

/** The typed notification, if it is about this thread. The protocol defines its fields. */
const forThread = (notification: Notification, threadId: string): TurnNotification | null =>
  notification.params.threadId === threadId ? (notification as unknown as TurnNotification) : null;

const sessionOf = ({ id, resumed, model }: OpenedThread): EngineEvent => ({
  type: 'session',
  engineSessionId: id,
  resumed,
  model,
});

const unknownSession = (id: string): EngineEvent => ({
  type: 'notice',
  code: 'session_unknown',
  message: `Codex no longer has the session ${id}; a new one was started.`,
});
