import type { Engine, EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';

export type EngineScript = (request: EngineRequest, signal: AbortSignal) => AsyncIterable<EngineEvent>;

export type ScriptedEngine = Engine & {
  /** Every request, in order. */
  readonly requests: EngineRequest[];
  /** The sessions that it was told to forget, in order. */
  readonly forgotten: string[];
  /** Replaces the script of the next turns. */
  script(script: EngineScript): void;
};

/** An engine controlled by a test. By default it answers with the sender's text. */
export function createScriptedEngine(id = 'scripted'): ScriptedEngine {
  const requests: EngineRequest[] = [];
  const forgotten: string[] = [];
  let current: EngineScript = echo;
  return {
    id,
    asks: ['dangerous', 'always'],
    requests,
    forgotten,
    script: (script) => (current = script),
    probe: () => Promise.resolve({ installed: true, version: '1', path: null, auth: 'none', ready: true, reason: 'scripted' }),
    run(request, signal) {
      requests.push(request);
      return current(request, signal);
    },
    forget: (sessionId) => Promise.resolve(void forgotten.push(sessionId)),
    close: () => Promise.resolve(),
  };
}

async function* echo(request: EngineRequest): AsyncGenerator<EngineEvent> {
  yield {
    type: 'session',
    engineSessionId: request.resume ?? `s-${request.conversationKey}`,
    resumed: request.resume !== null,
    model: null,
  };
  yield* says(request.text);
}

/** The events of a plain answer. */
export function* says(...pieces: string[]): Generator<EngineEvent> {
  for (const text of pieces) yield { type: 'delta', text };
  yield { type: 'segment', text: pieces.join('') };
  yield { type: 'done' };
}

/** A script of plain answers. */
export const answering = (...pieces: string[]): EngineScript =>
  async function* () {
    yield* says(...pieces);
  };

/** A script that sends a text and then works until it is aborted. */
export const workingUntilAborted = (said = ''): EngineScript =>
  async function* (request, signal) {
    yield { type: 'session', engineSessionId: request.resume ?? 's-1', resumed: false, model: null };
    if (said !== '') yield { type: 'delta', text: said };
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    yield { type: 'aborted' };
  };
