import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { Events } from '../events.ts';
import type { Redactor } from '../redaction/redactor.ts';
import type { OpenSession, SessionStore } from '../session/session-store.ts';
import { createReplyStream } from './reply-stream.ts';
import { showToolInput, showToolOutput } from './tool-view.ts';
import type { Turn, TurnSink } from './turn.ts';

type Deps = {
  turn: Turn;
  session: OpenSession;
  sink: TurnSink;
  redactor: Redactor;
  events: Events;
  sessions: Pick<SessionStore, 'keepEngineSession'>;
};

export type Rendered = { text: string; usage: TokenUsage | null; model: string | null; silent: boolean };

/** Turns what an engine says into what the channel sees, redacted, and remembers what the turn needs at its end. */
export function createEventRenderer({ turn, session, sink, redactor, events, sessions }: Deps) {
  const reply = createReplyStream(redactor, sink);
  const thinking = redactor.stream();
  let thought = '';
  let usage: TokenUsage | null = null;
  let model: string | null = null;
  let kept: Promise<unknown> = Promise.resolve();

  const keep = (engineSessionId: string) => {
    kept = sessions.keepEngineSession(session, engineSessionId);
    kept.catch(() => undefined); // `finish` hears of it; until then nobody waits, which would end the process
  };

  const showThought = (text: string) => {
    if (text === '') return;
    reply.flush();
    thought += text;
    sink({ type: 'thinking', text });
  };

  return {
    take(event: EngineEvent): void {
      switch (event.type) {
        case 'delta':
          reply.delta(event.text);
          break;
        case 'segment':
          reply.segment(event.text);
          break;
        case 'thinking':
          showThought(thinking.push(event.text));
          break;
        case 'session':
          model = event.model;
          if (event.engineSessionId !== session.engine_session_id) keep(event.engineSessionId);
          break;
        case 'tool': {
          const name = redactor.text(event.name);
          const input = showToolInput(redactor.value(event.input));
          reply.flush();
          sink({ type: 'tool', id: event.id, name, input });
          events.tool(turn, name, event.id, input);
          break;
        }
        case 'tool_result': {
          const output = showToolOutput(redactor.text(event.output));
          reply.flush();
          sink({ type: 'tool_result', id: event.id, ok: event.ok, output });
          events.toolResult(turn, event.id, event.ok, output);
          break;
        }
        case 'notice':
          events.engineNotice(turn, session.engine_id ?? '', event.code, redactor.text(event.message));
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

    /** Lets out what was still held back. */
    async finish(): Promise<Rendered> {
      showThought(thinking.end());
      if (thought !== '') events.thinking(turn, thought);
      reply.finish();
      await kept;
      return { text: reply.text(), usage, model, silent: reply.isSilent() };
    },
  };
}
