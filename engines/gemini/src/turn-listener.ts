import type { EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createEventQueue, type EventQueue } from '@svc/engine-kit/event-queue.ts';
import type { ProcessEnd } from '@svc/engine-kit/line-process.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { allowedToolServers, toolServerMissing } from '@svc/engine-kit/tool-servers.ts';
import type { GeminiMessage, GeminiResult } from './gemini-messages.ts';
import type { RelayListener } from './model-relay.ts';
import type { Refusal } from './refusal.ts';
import { toEngineEvents, toolPrefixes, toUsage } from './to-engine-event.ts';
import { cutOff, toFailure } from './to-failure.ts';

/** How a turn ended: with its terminal event, or because the session to resume is unknown. */
export type TurnOutcome = 'finished' | 'session_unknown';

export type TurnListener = RelayListener & {
  readonly events: EventQueue;
  readonly outcome: TurnOutcome;
  /** True once the program has a session, which can be resumed from then on. */
  readonly announced: boolean;
  /** True once a tool ran, which may have started processes. */
  readonly usedTools: boolean;
  onMessage(message: Record<string, unknown>): void;
  /** The program has ended, with its last stderr output. */
  onEnd(end: ProgramEnd, stderr: string): void;
  /** The usage of the turn so far, estimated where it is unknown. */
  estimated(): EngineEvent;
};

type ProgramEnd = Pick<ProcessEnd, 'code' | 'signal'> & Partial<ProcessEnd>;

type Options = { request: EngineRequest; sessionId: string; isNew: boolean; signal: AbortSignal };

/** The state of the running turn. */
type Turn = Options & {
  readonly queue: EventQueue;
  /** Names of the tool servers that the turn may use. */
  readonly toolServers: readonly string[];
  /** Ids of running tools. */
  readonly openTools: Set<string>;
  outcome: TurnOutcome;
  announced: boolean;
  usedTools: boolean;
  /** True once a request was sent to the model. */
  asked: boolean;
  /** True when the last reply broke off, until the next request. */
  wasCut: boolean;
  model: string | null;
  /** The text since the last tool call. */
  segment: string;
  /** Length of all text from the model. */
  said: number;
  /** The model service's last refusal. */
  refusal: Refusal | null;
  lastError: string;
};

/** Combines the program's output and the relay's observations to the events of one turn. */
export function createTurnListener(options: Options): TurnListener {
  const turn = beginTurn(options);
  return {
    events: turn.queue,
    get outcome() {
      return turn.outcome;
    },
    get announced() {
      return turn.announced;
    },
    get usedTools() {
      return turn.usedTools;
    },
    onMessage: (raw) => readRaw(turn, raw),
    onRequest: (body) => noteRequest(turn, body),
    onThought: (text) => showThought(turn, text),
    onRefusal: (refusal) => noteRefusal(turn, refusal),
    onCut: () => noteCut(turn),
    estimated: () => estimated(turn),
    onEnd: (end, stderr) => endTurn(turn, end, stderr),
  };
}

const beginTurn = (options: Options): Turn => ({
  ...options,
  queue: createEventQueue(),
  toolServers: allowedToolServers(options.request).map(({ name }) => name),
  openTools: new Set(),
  outcome: 'finished',
  announced: false,
  usedTools: false,
  asked: false,
  wasCut: false,
  model: null,
  segment: '',
  said: 0,
  refusal: null,
  lastError: '',
});

function readRaw(turn: Turn, raw: Record<string, unknown>): void {
  try {
    // The cast: the program defines its fields.
    readMessage(turn, raw as unknown as GeminiMessage);
  } catch {
    fail(turn, {
      code: 'engine_crashed',
      message: `Gemini sent a "${String(raw.type)}" that could not be parsed. Try again.`,
      retryable: true,
    });
  }
}

function readMessage(turn: Turn, message: GeminiMessage): void {
  if (message.type === 'init') {
    turn.announced = true;
    turn.model = message.model;
    turn.queue.push({ type: 'session', engineSessionId: turn.sessionId, resumed: !turn.isNew, model: message.model });
  } else if (message.type === 'result') {
    if (!turn.signal.aborted) readResult(turn, message);
  } else {
    if (message.type === 'error') turn.lastError = message.message;
    for (const event of toEngineEvents(message, turn.toolServers)) show(turn, event);
  }
}

function readResult(turn: Turn, { status, stats, error }: GeminiResult): void {
  const usage = stats ? toUsage(stats, turn.model) : null;
  const used: EngineEvent[] = usage === null ? [] : [{ type: 'usage', usage }];
  if (status === 'success') finish(turn, ...(used.length > 0 ? used : [estimated(turn)]), { type: 'done' });
  else if (turn.wasCut) fail(turn, cutOff, ...used);
  else fail(turn, toFailure(turn.refusal, error?.message ?? turn.lastError), ...used);
}

function show(turn: Turn, event: EngineEvent): void {
  if (turn.queue.state !== 'open') return;
  if (event.type === 'delta') {
    turn.segment += event.text;
    turn.said += event.text.length;
  }
  if (event.type === 'tool') {
    closeSegment(turn);
    turn.usedTools = true;
    turn.openTools.add(event.id);
  }
  if (event.type === 'tool_result') turn.openTools.delete(event.id);
  turn.queue.push(event);
}

function showThought(turn: Turn, text: string): void {
  // While a tool runs, the thoughts are those of an agent inside the tool.
  if (turn.openTools.size > 0) return;
  turn.said += text.length;
  turn.queue.push({ type: 'thinking', text });
}

function noteRequest(turn: Turn, body: Buffer): void {
  turn.refusal = null;
  if (turn.wasCut) closeSegment(turn); // the reply starts again
  turn.wasCut = false;
  if (turn.asked) return;
  turn.asked = true;
  for (const name of turn.toolServers.filter((server) => !offersToolsOf(server, body))) {
    turn.queue.push(toolServerMissing(name, 'none of its tools could be offered'));
  }
}

function noteRefusal(turn: Turn, refusal: Refusal): void {
  turn.refusal = refusal;
  if (refusal.status === 0 || refusal.status === 429 || refusal.status >= 500) retryNotice(turn, refusal.message);
}

function noteCut(turn: Turn): void {
  turn.wasCut = true;
  retryNotice(turn, 'The reply of the model was cut off; the request is repeated.');
}

const retryNotice = ({ queue }: Turn, message: string): void => queue.push({ type: 'notice', code: 'retry', message });

/** The program has ended. If it did not report the end of the turn, the turn ends here. */
function endTurn(turn: Turn, { code, signal, overflow }: ProgramEnd, stderr: string): void {
  if (turn.signal.aborted) return finish(turn, estimated(turn), { type: 'aborted' });
  if (overflow) return fail(turn, overflow, estimated(turn));
  if (!turn.isNew && !turn.announced && unknownSession.test(stderr)) {
    turn.outcome = 'session_unknown';
    return turn.queue.end();
  }
  const how = signal === null ? `code ${code}` : signal;
  const words = [`Gemini ended unexpectedly, with ${how}`, lastLine(stderr)].filter(Boolean).join(': ');
  return fail(turn, { code: 'engine_crashed', message: `${words}. Try again.`, retryable: true });
}

function closeSegment(turn: Turn): void {
  if (turn.segment !== '') turn.queue.push({ type: 'segment', text: turn.segment });
  turn.segment = '';
}

function finish(turn: Turn, ...events: EngineEvent[]): void {
  closeSegment(turn);
  for (const event of events) turn.queue.push(event);
  turn.queue.end();
}

const fail = (turn: Turn, failure: EngineFailure, ...before: EngineEvent[]): void =>
  finish(turn, ...before, { type: 'failed', failure });

const estimated = ({ request, said }: Turn): EngineEvent => ({
  type: 'usage',
  usage: estimateUsage({ input: request.text, output: { length: said } }),
});

const unknownSession = /Invalid session identifier|No previous sessions found/;

/** The tools are at the end of a request. In people's text, a quotation mark would have a backslash before it. */
function offersToolsOf(server: string, body: Buffer): boolean {
  const start = body.lastIndexOf('"functionDeclarations"');
  if (start === -1) return false;
  const tools = body.subarray(start);
  return toolPrefixes(server).some((prefix) => tools.includes(`"${prefix}`));
}

const lastLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/[.\s]+$/, '') ?? '';
