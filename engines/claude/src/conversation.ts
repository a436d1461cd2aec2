import { isDeepStrictEqual } from 'node:util';
import type { EngineFailure, EngineLog, EngineRequest } from '@svc/engine-kit/engine.ts';
import { within } from '@svc/service-kit/within.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import type { ClaudeMessage, ClaudeQuery, ClaudeSdk, ClaudeUserMessage } from './claude-messages.ts';
import type { ClaudeInstall } from './find-claude.ts';
import { claudeOptions, settingSources, toMcpServers } from './launch.ts';
import { createInputStream } from './input-stream.ts';
import { createClaudeProcess } from './spawn-claude.ts';
import { permitTool } from './ask-person.ts';

/** Who listens to the program while a turn runs. */
export type TurnListener = {
  request: EngineRequest;
  onMessage(message: ClaudeMessage): void;
  /** The program is gone, with its last words; `overflow` when it was ended because it wrote too much. */
  onEnd(reason: string, overflow?: EngineFailure | null): void;
};

/** One running program, open for turn after turn of one conversation. */
export type Conversation = {
  /** The request fields that are fixed for the program's life, in one string. */
  readonly fingerprint: string;
  readonly alive: boolean;
  /** True once a turn was sent: its program is not fresh, and may have died or got stuck since. */
  readonly used: boolean;
  /** Of the program, once it runs. */
  readonly pid: number | undefined;
  sessionId: string | null;
  /** Tool servers that were not there in the last turn. The next one tries to reach them again. */
  missing: readonly string[];
  query: ClaudeQuery;
  /**
   * Whether the program can be given a request's tool servers. It keeps the tools that it first had of a name, also when the server of that name is
   * another one and has told it of others, so no server that it has had may be another one now.
   */
  canHave(request: EngineRequest): boolean;
  /**
   * Gives the program this turn's tool servers. Those that are missing show in the turn's first message. False when a
   * program that has had a turn is gone or does not answer any more.
   */
  setToolServers(request: EngineRequest): Promise<boolean>;
  send(content: ClaudeUserMessage['message']['content'], listener: TurnListener): void;
  /** Ends what the program's commands have left behind; what it still has itself goes on. Never rejects. */
  endOrphans(): Promise<void>;
  /** The turn is over: from now on the program's requests belong to no turn and are refused. */
  settle(): void;
  close(): Promise<void>;
  /** Ends the program at once. Its listener is called. */
  kill(): Promise<void>;
};

/** How long a program that is open already may take for its first sign of life in a turn. */
export const answerLimitMs = 5000;

export const fingerprintOf = (request: EngineRequest): string => {
  const { toolPolicy, asks, system, model, cwd } = request;
  return JSON.stringify([toolPolicy, asks ?? 'never', system, model, cwd, settingSources(request)]);
};

type Deps = {
  log: EngineLog;
  sdk: ClaudeSdk;
  install: ClaudeInstall;
  env: Record<string, string>;
  maxLine: number;
  notes: string;
};

/** Starts the program for a request. Nothing is sent to the model yet. */
export function openConversation(
  { log, sdk, install, env, maxLine, notes }: Deps,
  request: EngineRequest,
  resume: string | null,
): Conversation {
  const input = createInputStream<ClaudeUserMessage>();
  const process = createClaudeProcess(maxLine);
  let listener: TurnListener | null = null;
  let alive = true;
  let used = false;
  let toolServers: Record<string, object> = {};
  /** All that it was ever given, by name. */
  const had = new Map<string, object>();

  const query = sdk.query({
    prompt: input,
    options: {
      ...claudeOptions(request, { resume, env, notes }),
      pathToClaudeCodeExecutable: install.program,
      spawnClaudeCodeProcess: process.spawn,
      canUseTool: async (tool: string, toolInput: Record<string, unknown>) =>
        listener === null ? noTurn : permitTool(listener.request, tool, toolInput),
    },
  });

  const pump = async () => {
    const reason = await readAll(query, (message) => listener?.onMessage(message));
    alive = false;
    // It may still run, when what it wrote could not be read.
    void process.kill();
    listener?.onEnd([reason, process.stderrTail()].filter(Boolean).join(' '), process.overflow);
  };
  void pump();

  return {
    fingerprint: fingerprintOf(request),
    sessionId: resume,
    missing: [],
    query,
    get alive() {
      return alive;
    },
    get used() {
      return used;
    },
    get pid() {
      return process.pid;
    },
    canHave: (next) =>
      Object.entries(toMcpServers(allowedToolServers(next))).every(
        ([name, server]) => !had.has(name) || isDeepStrictEqual(had.get(name), server),
      ),
    async setToolServers(next) {
      const wanted = toMcpServers(allowedToolServers(next));
      for (const [name, server] of Object.entries(wanted)) had.set(name, server);
      const lost = this.missing;
      if (lost.length === 0 && isDeepStrictEqual(wanted, toolServers)) return true;
      toolServers = wanted;
      const change = changeServers(query, wanted, lost);
      return used ? isAnswered(query, change, () => alive) : change.then(() => true);
    },
    send(content, next) {
      used = true;
      listener = next;
      if (alive) input.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
      else next.onEnd('The claude program had already ended.');
    },
    endOrphans: () =>
      process
        .endOrphans()
        .catch((error: unknown) => log.warn({ err: error }, 'processes that commands left behind could not be searched for')),
    settle() {
      listener = null;
    },
    async close() {
      alive = false;
      input.end();
      query.close();
      await process.end();
    },
    async kill() {
      alive = false;
      await process.kill();
    },
  };
}

/** Passes on all messages. Resolves when the program is gone, with the reason in one line. */
async function readAll(query: ClaudeQuery, onMessage: (message: ClaudeMessage) => void): Promise<string> {
  try {
    for await (const message of query) onMessage(message);
    return 'The claude program ended.';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function changeServers(query: ClaudeQuery, wanted: Record<string, object>, lost: readonly string[]): Promise<void> {
  // A server that is named again as it was would stay as it is.
  if (lost.length > 0) await query.setMcpServers(without(wanted, lost));
  await query.setMcpServers(wanted);
}

/** False for a program that is gone or hangs. Servers may take their time to connect; the program itself has to answer at once. */
async function isAnswered(query: ClaudeQuery, change: Promise<void>, isAlive: () => boolean): Promise<boolean> {
  const isSet = change.then(
    () => true,
    () => false,
  );
  const isThere = await Promise.race([isSet, within(settled(query.setPermissionMode('default')), answerLimitMs)]);
  return isThere && isAlive() && isSet;
}

const without = (servers: Record<string, object>, names: readonly string[]): Record<string, object> =>
  Object.fromEntries(Object.entries(servers).filter(([name]) => !names.includes(name)));

/** Settles when the promise does, whatever comes of it. */
const settled = (promise: Promise<unknown>): Promise<unknown> => promise.catch(() => undefined);

const noTurn = { behavior: 'deny', message: 'No turn is running.' } as const;
