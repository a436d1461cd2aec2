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

/** Receives the program's messages while a turn runs. */
export type TurnListener = {
  request: EngineRequest;
  onMessage(message: ClaudeMessage): void;
  /** The program has ended, with its last output; `overflow` when it was ended because it wrote too much. */
  onEnd(reason: string, overflow?: EngineFailure | null): void;
};

/** A running program, which serves the turns of one conversation. */
export type Conversation = {
  /** The request fields that are fixed while the program runs, as one string. */
  readonly fingerprint: string;
  readonly alive: boolean;
  /** True once a turn was sent: the program may have died or hung since. */
  readonly used: boolean;
  /** Id of the program's process, once it runs. */
  readonly pid: number | undefined;
  sessionId: string | null;
  /** Tool servers that were missing in the last turn. The next turn tries to reach them again. */
  missing: readonly string[];
  query: ClaudeQuery;
  /**
   * Whether the program can use a request's tool servers. For each server name it keeps the tools that it first received, even if the name
   * later belongs to another server. So each name must still belong to the same server.
   */
  canHave(request: EngineRequest): boolean;
  /**
   * Sets this turn's tool servers. The turn's first message shows which are missing. False when a program that has already served a turn
   * has ended or no longer answers.
   */
  setToolServers(request: EngineRequest): Promise<boolean>;
  send(content: ClaudeUserMessage['message']['content'], listener: TurnListener): void;
  /** Ends the leftover processes of the program's commands; its own ones continue. Never rejects. */
  endOrphans(): Promise<void>;
  /** The turn is over: from now on, the program's requests belong to no turn and are refused. */
  settle(): void;
  close(): Promise<void>;
  /** Ends the program at once, and calls its listener. */
  kill(): Promise<void>;
};

/** How long a program that is already open may take for its first message in a turn, ms. */
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
  /** All tool servers that it was ever given, by name. */
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
    // It may still run when its output could not be read.
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

/** Passes on all messages. Resolves when the program has ended, with the reason in one line. */
async function readAll(query: ClaudeQuery, onMessage: (message: ClaudeMessage) => void): Promise<string> {
  try {
    for await (const message of query) onMessage(message);
    return 'The claude program ended.';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function changeServers(query: ClaudeQuery, wanted: Record<string, object>, lost: readonly string[]): Promise<void> {
  // Setting a lost server again without a change would have no effect, so it is removed first.
  if (lost.length > 0) await query.setMcpServers(without(wanted, lost));
  await query.setMcpServers(wanted);
}

/** False for a program that has ended or hangs. Servers may take time to connect, but the program itself must answer at once. */
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

/** Settles together with the promise; never rejects. */
const settled = (promise: Promise<unknown>): Promise<unknown> => promise.catch(() => undefined);

const noTurn = { behavior: 'deny', message: 'No turn is running.' } as const;
