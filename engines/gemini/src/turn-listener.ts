import type { EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createEventQueue, type EventQueue } from '@svc/engine-kit/event-queue.ts';
import type { ProcessEnd } from '@svc/engine-kit/line-process.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { toolServerMissing } from '@svc/engine-kit/tool-server-missing.ts';
import { allowedToolServers } from '@svc/engine-kit/turn-text.ts';
import type { GeminiMessage, GeminiResult } from './gemini-messages.ts';
import type { RelayListener } from './model-relay.ts';
import type { Refusal } from './refusal.ts';
import { toEngineEvents, toolPrefixes, toUsage } from './to-engine-event.ts';
import { cutOff, toFailure } from './to-failure.ts';

/** How a turn ended: with its terminal event, or without a session to go on with. */
export type TurnOutcome = 'finished' | 'session_unknown';

export type TurnListener = RelayListener & {
  readonly events: EventQueue;
  readonly outcome: TurnOutcome;
  /** True once the program has a session: from then on there is something to go on with. */
  readonly announced: boolean;
  /** True once a tool ran, which may have started something. */
  readonly usedTools: boolean;
  onMessage(message: Record<string, unknown>): void;
  /** The program is gone, and what it last wrote to stderr. */
  onEnd(end: Pick<ProcessEnd, 'code' | 'signal'> & Partial<ProcessEnd>, stderr: string): void;
  /** What the turn has used so far, as far as it is known. */
  estimated(): EngineEvent;
};

type Options = { request: EngineRequest; sessionId: string; isNew: boolean; signal: AbortSignal };

/** Joins what the program prints and what the relay sees to the events of one turn. */
export function createTurnListener({ request, sessionId, isNew, signal }: Options): TurnListener {
  const queue = createEventQueue();
  const toolServers = allowedToolServers(request).map(({ name }) => name);
  const openTools = new Set<string>();
  let outcome: TurnOutcome = 'finished';
  let announced = false;
  let model: string | null = null;
  let usedTools = false;
  let asked = false;
  let wasCut = false;
  let segment = '';
  let said = 0;
  let refusal: Refusal | null = null;
  let lastError = '';

  const closeSegment = () => {
    if (segment !== '') queue.push({ type: 'segment', text: segment });
    segment = '';
  };
  const finish = (...events: EngineEvent[]) => {
    closeSegment();
    for (const event of events) queue.push(event);
    queue.end();
  };
  const fail = (failure: EngineFailure, ...before: EngineEvent[]) => finish(...before, { type: 'failed', failure });
  const notice = (code: 'retry', message: string) => queue.push({ type: 'notice', code, message });
  const estimated = (): EngineEvent => ({
    type: 'usage',
    usage: estimateUsage({ input: request.text, output: { length: said } }),
  });

  const show = (event: EngineEvent) => {
    if (queue.state !== 'open') return;
    if (event.type === 'delta') {
      segment += event.text;
      said += event.text.length;
    }
    if (event.type === 'tool') {
      closeSegment();
      usedTools = true;
      openTools.add(event.id);
    }
    if (event.type === 'tool_result') openTools.delete(event.id);
    queue.push(event);
  };

  const onResult = ({ status, stats, error }: GeminiResult) => {
    const usage = stats ? toUsage(stats, model) : null;
    const used: EngineEvent[] = usage === null ? [] : [{ type: 'usage', usage }];
    if (status === 'success') finish(...(used.length > 0 ? used : [estimated()]), { type: 'done' });
    else if (wasCut) fail(cutOff, ...used);
    else fail(toFailure(refusal, error?.message ?? lastError), ...used);
  };

  const read = (message: GeminiMessage) => {
    if (message.type === 'init') {
      announced = true;
      model = message.model;
      queue.push({ type: 'session', engineSessionId: sessionId, resumed: !isNew, model: message.model });
    } else if (message.type === 'result') {
      if (!signal.aborted) onResult(message);
    } else {
      if (message.type === 'error') lastError = message.message;
      for (const event of toEngineEvents(message, toolServers)) show(event);
    }
  };

  return {
    events: queue,
    get outcome() {
      return outcome;
    },
    get announced() {
      return announced;
    },
    get usedTools() {
      return usedTools;
    },

    onMessage(raw) {
      try {
        // Its fields are the program's promise.
        read(raw as unknown as GeminiMessage);
      } catch {
        fail({
          code: 'engine_crashed',
          message: `Gemini wrote a "${String(raw.type)}" that cannot be read. Try again.`,
          retryable: true,
        });
      }
    },

    onRequest(body) {
      refusal = null;
      if (wasCut) closeSegment(); // what comes now begins anew
      wasCut = false;
      if (asked) return;
      asked = true;
      for (const name of toolServers.filter((server) => !offersToolsOf(server, body))) {
        queue.push(toolServerMissing(name, 'none of its tools could be offered'));
      }
    },

    onThought(text) {
      // While a tool runs it is an agent inside that tool that thinks.
      if (openTools.size === 0) {
        said += text.length;
        queue.push({ type: 'thinking', text });
      }
    },

    onRefusal(next) {
      refusal = next;
      if (next.status === 0 || next.status === 429 || next.status >= 500) notice('retry', next.message);
    },

    onCut() {
      wasCut = true;
      notice('retry', 'The reply of the model was cut off; it is asked again.');
    },

    estimated,

    onEnd({ code, signal: by, overflow }, stderr) {
      if (signal.aborted) return finish(estimated(), { type: 'aborted' });
      if (overflow) return fail(overflow, estimated());
      if (!isNew && !announced && unknownSession.test(stderr)) {
        outcome = 'session_unknown';
        return queue.end();
      }
      const how = by === null ? `code ${code}` : by;
      const words = [`Gemini ended early, with ${how}`, lastLine(stderr)].filter(Boolean).join(': ');
      return fail({ code: 'engine_crashed', message: `${words}. Try again.`, retryable: true });
    },
  };
}

const unknownSession = /Invalid session identifier|No previous sessions found/;

/** Tools stand at the end of a request. In what people wrote a quotation mark would have a backslash before it. */
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
