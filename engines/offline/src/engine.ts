import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { counted } from '@svc/service-kit/words.ts';
import type { CreateEngine, EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { isTerminal } from '@svc/engine-kit/guard-events.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { asksForTools, findCommand, say } from './commands.ts';
import type { ToolPlace } from './tools.ts';

/** What a script module exports: it stands in for the model. */
export type OfflineScript = (request: EngineRequest, signal: AbortSignal) => AsyncIterable<EngineEvent>;

const sessionId = /^offline-[0-9a-f-]{36}$/;

const aboutItself = (text: string) =>
  `No model is connected yet, so I cannot answer that. I am the built-in offline engine, which only ` +
  `shows that messages arrive and answers return; you wrote ${counted(text.length, 'character')}.\n\n` +
  'To connect a model, run `./svc engine install codex` and `./svc engine login codex` (or `claude`), or start a local model server. ' +
  '`./svc engine` shows the state of each engine.\n\n' +
  'Until then I understand: echo TEXT, wait SECONDS TEXT, count N, think TEXT, tool NAME {json} (such as tool clock), ask QUESTION | ANSWER | ANSWER, context, fail CODE.';

/**
 * The engine that needs nothing. It is no model and says so; it shows streaming, thinking, tools, abort and failures to
 * anyone, carries the first run, and tests can script it.
 */
export const createEngine: CreateEngine = (deps) => {
  let loaded: Promise<OfflineScript> | null = null;
  const script = async () => (deps.script === null ? null : (loaded ??= loadScript(deps.script)));
  return {
    id: 'offline',
    asks: ['dangerous', 'always'],
    probe: () =>
      Promise.resolve({
        installed: true,
        version: null,
        path: null,
        auth: 'none',
        ready: true,
        reason: 'It is built in and needs no setup, but it is not a model.',
      }),
    instructions: ({ system }) =>
      Promise.resolve({ text: system, added: ['No model reads it: "context" in a message shows what a model would get.'] }),
    // A script stands for a model, and may call what it is given.
    usesTools: (text) => deps.script !== null || asksForTools(text),
    run: (request, signal) => run(request, signal, { script, place: deps }),
    close: () => Promise.resolve(),
  };
};

async function* run(
  request: EngineRequest,
  signal: AbortSignal,
  { script, place }: { script: () => Promise<OfflineScript | null>; place: ToolPlace },
): AsyncGenerator<EngineEvent> {
  if (signal.aborted) return yield { type: 'aborted' };
  let output = '';
  let ending: EngineEvent = { type: 'done' };
  try {
    yield* openSession(request.resume);
    for await (const event of answer(request, signal, (await script()) ?? findCommand(request.text, place))) {
      if (signal.aborted) break;
      if (isTerminal(event)) {
        ending = event;
        break;
      }
      yield event;
      if (event.type === 'delta') output += event.text;
    }
  } catch (error) {
    ending = { type: 'failed', failure: { code: 'engine_failed', message: reasonOf(error), retryable: false } };
  }
  yield { type: 'usage', usage: estimateUsage({ input: request.text, output }) };
  yield signal.aborted ? { type: 'aborted' } : ending;
}

const reasonOf = (error: unknown) => (error instanceof Error && error.message) || `The offline engine failed: ${String(error)}`;

function* openSession(resume: string | null): Generator<EngineEvent> {
  const known = resume !== null && sessionId.test(resume);
  if (resume !== null && !known) {
    yield {
      type: 'notice',
      code: 'session_unknown',
      message: `The offline engine has no session ${resume}; a new one was started.`,
    };
  }
  yield { type: 'session', engineSessionId: known ? resume : `offline-${randomUUID()}`, resumed: known, model: null };
}

function answer(request: EngineRequest, signal: AbortSignal, respond: OfflineScript | null): AsyncIterable<EngineEvent> {
  if (respond !== null) return respond(request, signal);
  return say(request.purpose === 'title' ? firstWords(request.text) : aboutItself(request.text));
}

/** The best title that no model can give. */
const firstWords = (text: string): string => text.trim().split(/\s+/).slice(0, 8).join(' ');

async function loadScript(file: string): Promise<OfflineScript> {
  const { respond } = (await import(pathToFileURL(file).href)) as { respond?: OfflineScript };
  if (typeof respond !== 'function') throw new Error(`${file} does not export a function "respond"`);
  return respond;
}
