import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createEventQueue, type EventQueue } from '@svc/engine-kit/event-queue.ts';
import { estimateUsage } from '@svc/engine-kit/token-estimate.ts';
import { isImage, turnText } from '@svc/engine-kit/turn-text.ts';
import type { AppServer } from './app-server.ts';
import type { TurnNotification } from './codex-messages.ts';
import type { Notification } from './json-rpc.ts';
import type { OpenedThread, Threads } from './threads.ts';
import { toEngineEvents } from './to-engine-event.ts';
import { toFailure } from './to-failure.ts';
import { createTurnUsage } from './turn-usage.ts';

type Deps = { server: AppServer; threads: Threads };

/** One turn on the app-server: load the thread, start the turn, pass its events on, unload the thread. */
export async function* runTurn(
  { server, threads }: Deps,
  request: EngineRequest,
  params: object,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  const queue = createEventQueue();
  const early = collectEarly(server);
  const thread = await threads.open(params, request.resume).finally(early.stop);
  const input = toInput(request, !thread.resumed);
  const unsubscribe = listenToTurn(server, thread.id, { queue, prompt: `${request.system}${inputText(input)}` });
  early.replay(thread.id, queue);
  try {
    if (request.resume !== null && !thread.resumed) yield unknownSession(request.resume);
    yield { type: 'session', engineSessionId: thread.id, resumed: thread.resumed, model: thread.model };
    if (signal.aborted) return;
    await startTurn({ server, queue }, thread, input, signal);
    for await (const event of queue) {
      if (event.type === 'aborted') await threads.release(thread.id);
      yield event;
    }
  } finally {
    unsubscribe();
    void threads.release(thread.id);
  }
}

type Input = { type: 'text'; text: string; text_elements: [] } | { type: 'localImage'; path: string };

function toInput(request: EngineRequest, isNew: boolean): Input[] {
  const images = request.attachments.filter(isImage);
  return [
    { type: 'text', text: turnText(request, { isNew, shown: images }), text_elements: [] },
    ...images.map(({ path }): Input => ({ type: 'localImage', path })),
  ];
}

const inputText = (input: Input[]): string => input.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** Starts the turn, to be interrupted by the signal as long as it runs. */
async function startTurn(
  { server, queue }: { server: AppServer; queue: EventQueue },
  { id }: OpenedThread,
  input: Input[],
  signal: AbortSignal,
): Promise<void> {
  const { turn } = await server.request<{ turn: { id: string } }>('turn/start', { threadId: id, input });
  const interrupt = () => {
    // A refusal means that the turn is over already; its last notification then ends our turn.
    server.request('turn/interrupt', { threadId: id, turnId: turn.id }).catch(() => undefined);
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener('abort', interrupt, { once: true });
  void queue.ended.then(() => signal.removeEventListener('abort', interrupt));
}

/** Puts everything the app-server says about this thread's turn into the queue, the terminal event included. */
function listenToTurn(server: AppServer, threadId: string, { queue, prompt }: { queue: EventQueue; prompt: string }): () => void {
  let usage = createTurnUsage();
  let output = '';
  const finish = (...events: EngineEvent[]) => {
    for (const event of events) queue.push(event);
    queue.end();
  };
  const used = (): EngineEvent => ({ type: 'usage', usage: usage.read() ?? estimateUsage({ input: prompt, output }) });
  const onEnd = (reason: string) =>
    finish({ type: 'failed', failure: { code: 'engine_crashed', message: `${reason}. Try again.`, retryable: true } });
  const onNotification = (raw: Notification) => {
    const notification = forThread(raw, threadId);
    if (notification === null) return;
    for (const event of toEngineEvents(notification)) {
      if (event.type === 'delta' || event.type === 'thinking') output += event.text;
      queue.push(event);
    }
    // Loading a thread tells the usage of its last turn again.
    if (notification.method === 'turn/started') usage = createTurnUsage();
    if (notification.method === 'thread/tokenUsage/updated') usage.update(notification.params.tokenUsage);
    if (notification.method !== 'turn/completed') return;
    const { status, error } = notification.params.turn;
    if (status === 'failed') finish({ type: 'failed', failure: toFailure(error) });
    else finish(used(), { type: status === 'interrupted' ? 'aborted' : 'done' });
  };
  return server.subscribe(onNotification, onEnd);
}

/** Tool servers fail while the thread is being loaded, before its id is known here. */
function collectEarly(server: AppServer): { stop(): void; replay(threadId: string, queue: EventQueue): void } {
  const seen: Notification[] = [];
  const stop = server.subscribe((notification) => {
    if (notification.method === 'mcpServer/startupStatus/updated') seen.push(notification);
  });
  return {
    stop,
    replay(threadId, queue) {
      const notifications = seen.map((raw) => forThread(raw, threadId)).filter((notification) => notification !== null);
      for (const event of notifications.flatMap(toEngineEvents)) queue.push(event);
    },
  };
}

/** The notification with its type, when it is about this thread. Its fields are the protocol's promise. */
const forThread = (notification: Notification, threadId: string): TurnNotification | null =>
  notification.params.threadId === threadId ? (notification as unknown as TurnNotification) : null;

const unknownSession = (id: string): EngineEvent => ({
  type: 'notice',
  code: 'session_unknown',
  message: `Codex does not know the session ${id} any more; a new one begins.`,
});
