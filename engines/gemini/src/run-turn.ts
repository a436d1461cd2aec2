import type { EngineDeps, EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { endOnAbort } from '@svc/engine-kit/end-on-abort.ts';
import { startLineProcess, type LineProcess } from '@svc/engine-kit/line-process.ts';
import { endMarkedProcesses } from '@svc/service-kit/process/marked-processes.ts';
import { shownTexts } from '@svc/engine-kit/shown-texts.ts';
import { turnText } from '@svc/engine-kit/turn-text.ts';
import type { GeminiInstall } from './find-gemini.ts';
import { geminiArgs, geminiEnv } from './launch.ts';
import type { ModelRelay } from './model-relay.ts';
import { hideCommands } from './plain-text.ts';
import { furnishHome, tidyHome, type SessionHome } from './session-home.ts';
import { stageImages, type StagedImages } from './staged-images.ts';
import { createTurnListener, type TurnListener, type TurnOutcome } from './turn-listener.ts';

export type TurnDeps = Pick<EngineDeps, 'env' | 'stateDir' | 'maxLine' | 'log'> & {
  install: GeminiInstall;
  relay: ModelRelay;
  /** Processes of running turns, which end together with the engine. */
  running: Set<LineProcess>;
};

/** Time from SIGTERM to SIGKILL, ms. */
const termLimitMs = 1500;

/** Runs one turn in its own process: prepares the session's home, starts the program, passes on its events, and cleans up. */
export async function* runTurn(
  deps: TurnDeps,
  request: EngineRequest,
  home: SessionHome,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent, TurnOutcome> {
  const isKept = request.purpose === undefined;
  let listener: TurnListener | null = null;
  try {
    await furnishHome(home, request, deps.env.GEMINI_CLI_HOME ?? deps.env.HOME);
    const images = await stageImages(request.attachments, home.filesDir, `image-${home.id.slice(0, 8)}`);
    if (signal.aborted) return 'finished';
    const prompt = await promptOf(request, images, home.isNew);
    listener = createTurnListener({ request, sessionId: home.id, isNew: home.isNew, signal });
    yield* talk(deps, { request, home, prompt, filesDir: images.dir }, listener, signal);
    return listener.outcome;
  } finally {
    const isWorthKeeping = listener?.announced === true || !home.isNew;
    await leave(home, { usedTools: listener?.usedTools === true, isKept: isKept && isWorthKeeping }).catch((error: unknown) =>
      deps.log.warn({ err: error, session: home.id }, 'the session folder of gemini could not be removed'),
    );
  }
}

async function leave(home: SessionHome, { usedTools, isKept }: { usedTools: boolean; isKept: boolean }): Promise<void> {
  // Commands run in their own process groups, and outlive the program.
  if (usedTools) await endMarkedProcesses('GEMINI_CLI_HOME', (value) => value === home.dir);
  await tidyHome(home, { isKept });
}

type Talk = { request: EngineRequest; home: SessionHome; prompt: string; filesDir: string | null };

async function* talk(
  deps: TurnDeps,
  { request, home, prompt, filesDir }: Talk,
  listener: TurnListener,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  const { url } = deps.relay;
  const { key, close } = deps.relay.open(listener);
  const child = startLineProcess({
    command: process.execPath,
    args: [deps.install.script, ...geminiArgs(request, home, filesDir)],
    env: geminiEnv(deps, request, home, { url, key }),
    cwd: request.cwd,
    input: prompt,
    maxLine: deps.maxLine,
    onMessage: listener.onMessage,
    onNoise: (line) => deps.log.debug({ line: line.slice(0, 200) }, 'gemini wrote a line that is not a message'),
  });
  deps.running.add(child);
  endOnAbort(signal, listener.events, {
    interrupt: () => child.signal('SIGTERM'),
    kill: child.kill,
    graceMs: termLimitMs,
    lastWords: () => [listener.estimated()],
  });
  void child.ended.then((end) => listener.onEnd(end, child.stderrTail()));
  try {
    yield* listener.events;
  } finally {
    close();
    const isOver = listener.events.state === 'ended';
    listener.events.end();
    await (isOver ? child.stop() : child.kill());
    deps.running.delete(child);
  }
}

/** The user message in a form that the program does not interpret, except for the images to show. */
async function promptOf(request: EngineRequest, { shown, names }: StagedImages, isNew: boolean): Promise<string> {
  const text = hideCommands(turnText(request, { isNew, shown, texts: await shownTexts(request) }));
  return [text, ...names.map((name) => `@${name}`)].join('\n\n');
}
