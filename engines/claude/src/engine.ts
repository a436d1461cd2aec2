import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { findEngine } from '@svc/engine-kit/engine-path.ts';
import type { CreateEngine, EngineDeps, EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { createTemporaryFiles, temporaryDir } from '@svc/engine-kit/temporary-files.ts';
import { withTitleModel } from '@svc/engine-kit/turn-text.ts';
import type { ClaudeSdk } from './claude-messages.ts';
import { type Conversation, openConversation } from './conversation.ts';
import { acceptClaude, type ClaudeInstall, loadSdk } from './find-claude.ts';
import { readFolderNotes, readInstructions } from './instructions.ts';
import { keyInSettings, settingsFiles } from './key-in-settings.ts';
import { claudeEnv, configDirs, endpointToken, settingSources } from './launch.ts';
import { askLimitEnd } from './limit-end.ts';
import { titleModel } from './pin.ts';
import { removePrivate } from './private-history.ts';
import { probeClaude } from './probe.ts';
import { removeSession, removeTemporary } from './remove-session.ts';
import { runTurn } from './run-turn.ts';
import { createWarmConversations } from './warm-conversations.ts';

/** The local agent engine: the Claude Agent SDK with the operator's login, and one program per open conversation. */
export const createEngine: CreateEngine = (deps) => {
  const warm = createWarmConversations({ limit: deps.warm, memory: deps.warmMemory });
  const running = new Set<Conversation>();
  const temporary = createTemporaryFiles(deps);
  let sdk: Promise<ClaudeSdk> | null = null;

  const open = async (install: ClaudeInstall, request: EngineRequest, resume: string | null) => {
    temporary.sweepSoon();
    sdk ??= loadSdk(install.sdkDir).catch((error: unknown) => {
      sdk = null; // it may load in the next turn
      throw error;
    });
    const notes = await readFolderNotes(request);
    if (resume !== null && !settingSources(request).includes('user')) await removePrivate(claudeEnv(deps), resume);
    const { log, maxLine } = deps;
    return openConversation({ log, sdk: await sdk, install, env: claudeEnv(deps), maxLine, notes }, request, resume);
  };

  const keyFor = async (request: EngineRequest) =>
    keyInSettings(await settingsFiles(settingSources(request), claudeEnv(deps), request.cwd));

  /** One attempt, with an open program that fits or with a new one. */
  async function* attempt(install: ClaudeInstall, request: EngineRequest, isNew: boolean, signal: AbortSignal) {
    const kept = await warm.take(request);
    const refused = kept === null && deps.baseUrl === null ? await keyFor(request) : null;
    if (refused !== null) {
      yield { type: 'failed', failure: refused } as const;
      return 'finished' as const;
    }
    const conversation = kept ?? (await open(install, request, request.resume));
    running.add(conversation);
    try {
      const { baseUrl, env } = deps;
      const atEndpoint = baseUrl !== null && {
        askLimitEnd: (model: string | null) => askLimitEnd({ baseUrl, token: endpointToken(env) }, model),
      };
      return yield* runTurn(conversation, request, { isNew, allowsKey: baseUrl !== null, ...atEndpoint }, signal);
    } finally {
      running.delete(conversation);
      if (request.purpose === undefined) warm.keep(request.conversationKey, conversation);
      else await closeSideCall(conversation, deps);
    }
  }

  async function* turn(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const location = locate(deps);
    if (!location.found) return yield { type: 'failed', failure: notInstalled(location.reason) };
    const fresh = { ...request, resume: null };
    if (request.resume !== null && !uuid.test(request.resume)) {
      yield unknownSession(request.resume);
      yield* attempt(location.value, fresh, true, signal);
      return;
    }
    let outcome = yield* attempt(location.value, request, request.resume === null, signal);
    if (outcome === 'program_gone') outcome = yield* attempt(location.value, request, request.resume === null, signal);
    if (outcome !== 'session_unknown') return;
    yield unknownSession(request.resume ?? '');
    yield* attempt(location.value, fresh, true, signal);
  }

  return {
    id: 'claude',
    asks: ['dangerous', 'always'],
    probe: () => probeClaude({ location: locate(deps), env: claudeEnv(deps), cwd: deps.stateDir, baseUrl: deps.baseUrl }),
    run: (request, signal) =>
      guardEvents((inner) => turn(withTitleModel(request, deps.baseUrl, titleModel), inner), signal, {
        toFailure: exceptionToFailure,
      }),
    instructions: readInstructions,
    letGo: (sessionId) => warm.letGo(sessionId),
    async forget(sessionId) {
      if (!uuid.test(sessionId)) return;
      await warm.letGo(sessionId);
      // The session may be from a time with another endpoint setting.
      for (const dir of configDirs(deps)) await removeSession(dir, sessionId);
      await removeTemporary(temporaryDir(deps.stateDir), sessionId);
    },
    async terminal({ resume, model }) {
      const location = locate(deps);
      if (!location.found) return { problem: notInstalled(location.reason).message };
      if (resume !== null && !uuid.test(resume)) return { problem: `Claude has no session "${resume}".` };
      const id = resume ?? randomUUID();
      const named = model === null ? [] : ['--model', model];
      const argv = [location.value.program, resume === null ? '--session-id' : '--resume', id, ...named] as const;
      return { argv, env: claudeEnv(deps), engineSessionId: id };
    },
    async close() {
      await Promise.all([...running].map((conversation) => conversation.close()));
      await warm.close();
    },
  };
};

/** The program does not store such a session, but it does store the images that it was shown. */
async function closeSideCall(conversation: Conversation, { stateDir }: EngineDeps): Promise<void> {
  await conversation.close();
  if (conversation.sessionId !== null) await removeTemporary(temporaryDir(stateDir), conversation.sessionId);
}

/** The SDK would read anything else as a session's title. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const locate = ({ path: explicit, enginesDir, env }: EngineDeps) =>
  findEngine({
    id: 'claude',
    explicit,
    enginesDir,
    program: 'claude',
    searchPath: env.PATH,
    accept: (candidate) => acceptClaude(candidate, path.join(enginesDir, 'claude/current')),
  });

const unknownSession = (id: string): EngineEvent => ({
  type: 'notice',
  code: 'session_unknown',
  message: `Claude no longer has the session ${id}; a new one was started.`,
});

const notInstalled = (reason: string): EngineFailure => ({
  code: 'engine_not_installed',
  message: `The Claude Agent SDK is not installed (${reason}). Run "./svc engine install claude", or set SVC_CLAUDE_PATH.`,
  retryable: false,
});

const exceptionToFailure = (error: unknown): EngineFailure => ({
  code: 'engine_crashed',
  message: `Claude: ${error instanceof Error ? error.message : String(error)}`,
  retryable: true,
});
