import type { Identity } from '@svc/contract/trust.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { textInSlices, valueInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { Events } from '../events.ts';
import type { OpenSession, SessionStore } from '../session/session-store.ts';
import { andThen, type MaybeLater } from './maybe-later.ts';
import { createRenewedStream } from './renewed-stream.ts';
import { createResumeIdKeeper } from './resume-id-keeper.ts';
import { createReplyStream } from './reply-stream.ts';
import type { Turn, TurnSink } from './turn.ts';

type Deps = {
  turn: Turn;
  identity: Identity;
  session: OpenSession;
  sink: TurnSink;
  /** The current redactor: a secret may become known while the turn runs. Throws when the list of secrets cannot be read. */
  redactor: () => Redactor;
  events: Events;
  sessions: Pick<SessionStore, 'keepEngineSession'>;
  clock: Clock;
  /** How much of a tool's input or output is shown, in characters. */
  maxToolChars: number;
  /** A tool server that the engine was given is unavailable. */
  onToolServerMissing?(name: string, message: string): void;
};

/** `engineSessionId`: the engine's resume id, when it still has to be stored. */
export type Rendered = {
  text: string;
  usage: TokenUsage | null;
  model: string | null;
  silent: boolean;
  engineSessionId: string | null;
  /** For the operator: tool servers that were unavailable, a reply that was cut. */
  warnings: string[];
  /** What `text` is masked with. */
  redactor: Redactor;
};

/** A tool's input from this length on is masked in slices. */
const longInput = 4096;
/** About how much of a turn's thinking is recorded, in characters. */
const maxThought = 100_000;

const cutWord = 'The reply was cut here.';

/** Turns what an engine says into what the channel sees, redacted, and remembers what the turn needs at its end. */
export interface EventRenderer {
  /** A promise when it takes a while: the next event must wait for it. */
  take(event: EngineEvent): void | Promise<void>;
  /** Notes at the end of a reply that it is incomplete. False when there is no reply. */
  cut(why: string): Promise<boolean>;
  /** Releases the text that was still held back. */
  finish(): Promise<Rendered>;
}

export function createEventRenderer({
  turn,
  identity,
  session,
  sink,
  redactor,
  events,
  sessions,
  clock,
  maxToolChars,
  onToolServerMissing,
}: Deps): EventRenderer {
  const reply = createReplyStream(redactor, sink);
  const thinking = createRenewedStream(redactor);
  let thought = '';
  /** Thinking that is still being masked: a turn that is aborted meanwhile waits for it. */
  let showing: MaybeLater<void>;
  let hasReply = false;
  let usage: TokenUsage | null = null;
  let model: string | null = null;
  const warnings: string[] = [];
  const resumeId = createResumeIdKeeper({ session, sessions, clock });
  const tools = createToolRenderer({ turn, identity, session, sink, redactor, events, maxToolChars }, reply.flush);

  const showThought = (text: string): MaybeLater<void> => {
    if (text === '') return;
    if (thought.length < maxThought) thought += text;
    return andThen(reply.flush(), () => sink({ type: 'thinking', text }));
  };

  const showNotice = (notice: Extract<EngineEvent, { type: 'notice' }>) => {
    const message = redactor().text(notice.message);
    events.engineNotice(turn, identity, { engineId: session.engine_id ?? '', code: notice.code, message });
    if (notice.code !== 'tool_server_missing') return;
    warnings.push(message);
    onToolServerMissing?.(notice.toolServer, message);
  };

  return {
    take(event: EngineEvent): void | Promise<void> {
      switch (event.type) {
        case 'delta':
          hasReply ||= event.text !== '';
          return reply.delta(event.text);
        case 'segment':
          hasReply ||= event.text !== '';
          return reply.segment(event.text);
        case 'thinking':
          return (showing = andThen(thinking.push(event.text), showThought));
        case 'session':
          model = event.model;
          if (event.engineSessionId !== session.engine_session_id) resumeId.keepSoon(event.engineSessionId);
          break;
        case 'tool':
          return tools.call(event);
        case 'tool_result':
          return tools.result(event);
        case 'notice':
          showNotice(event);
          break;
        case 'usage':
          usage = event.usage;
          break;
        case 'done':
        case 'failed':
        case 'aborted':
          break; // the ending is the caller's
      }
    },

    async cut(why: string): Promise<boolean> {
      if (!hasReply) return false;
      await reply.segment(''); // ends the block that is open
      await reply.segment(`[${cutWord} ${why}]`);
      warnings.push(`${cutWord} ${why}`);
      return true;
    },

    async finish(): Promise<Rendered> {
      await showing;
      await showThought(await thinking.end());
      if (thought !== '') events.thinking(turn, identity, thought);
      await reply.finish();
      const engineSessionId = await resumeId.unkept();
      return {
        text: reply.text(),
        usage,
        model,
        silent: reply.isSilent(),
        engineSessionId,
        warnings,
        redactor: reply.redactor(),
      };
    },
  };
}

type ToolDeps = Pick<Deps, 'turn' | 'identity' | 'session' | 'sink' | 'redactor' | 'events' | 'maxToolChars'>;

/** Shows and records calls of tools, masked. `flush` sends the text that came before. */
function createToolRenderer(
  { turn, identity, session, sink, redactor, events, maxToolChars }: ToolDeps,
  flush: () => MaybeLater<void>,
) {
  /** The whole input is masked; what is shown of it is cut afterwards. */
  const inputInSlices = (input: unknown): unknown =>
    (JSON.stringify(input) ?? '').length > longInput ? valueInSlices(redactor(), input) : redactor().value(input);

  const showCall = (event: Extract<EngineEvent, { type: 'tool' }>, masked: unknown) => {
    const name = redactor().text(event.name);
    const input = showToolInput(masked, maxToolChars);
    return andThen(flush(), () => {
      sink({ type: 'tool', id: event.id, name, input });
      events.tool(turn, identity, { name, id: event.id, input, cwd: session.cwd });
    });
  };

  const showResult = (event: Extract<EngineEvent, { type: 'tool_result' }>, masked: string) => {
    const output = showToolOutput(masked, maxToolChars);
    return andThen(flush(), () => {
      sink({ type: 'tool_result', id: event.id, ok: event.ok, output });
      events.toolResult(turn, identity, { id: event.id, ok: event.ok, output });
    });
  };

  return {
    call: (event: Extract<EngineEvent, { type: 'tool' }>): MaybeLater<void> =>
      andThen(inputInSlices(event.input), (input) => showCall(event, input)),
    result: (event: Extract<EngineEvent, { type: 'tool_result' }>): MaybeLater<void> =>
      andThen(textInSlices(redactor(), event.output), (output) => showResult(event, output)),
  };
}

/** What is shown and recorded of a tool's output: `maxChars` of it. The engine sees everything. */
const showToolOutput = (output: string, maxChars: number): string =>
  output.length <= maxChars ? output : `${output.slice(0, maxChars)}… (${output.length - maxChars} more characters)`;

/** A small input as it is; the beginning of a larger one as text. */
function showToolInput(input: unknown, maxChars: number): unknown {
  const text = JSON.stringify(input) ?? 'null';
  return text.length <= maxChars ? input : showToolOutput(text, maxChars);
}
