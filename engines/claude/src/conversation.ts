import { isDeepStrictEqual } from 'node:util';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/turn-text.ts';
import type { ClaudeMessage, ClaudeQuery, ClaudeSdk, ClaudeUserMessage } from './claude-messages.ts';
import type { ClaudeInstall } from './find-claude.ts';
import { claudeOptions, toMcpServers } from './launch.ts';
import { createInputStream } from './input-stream.ts';
import { createClaudeProcess } from './spawn-claude.ts';
import { decideTool } from './tool-permission.ts';

/** Who listens to the program while a turn runs. */
export type TurnListener = {
  request: EngineRequest;
  onMessage(message: ClaudeMessage): void;
  /** The program is gone, with its last words. */
  onEnd(reason: string): void;
};

/** One running program, open for turn after turn of one conversation. */
export type Conversation = {
  /** The request fields that are fixed for the program's life, in one string. */
  readonly fingerprint: string;
  readonly alive: boolean;
  /** True once a turn was sent: its program is not fresh, and may have died since. */
  readonly used: boolean;
  sessionId: string | null;
  query: ClaudeQuery;
  /** Gives the program this turn's tool servers. Those that are missing show in the turn's first message. */
  setToolServers(request: EngineRequest): Promise<void>;
  send(content: ClaudeUserMessage['message']['content'], listener: TurnListener): void;
  close(): Promise<void>;
};

export const fingerprintOf = ({ toolPolicy, system, model, cwd }: EngineRequest): string =>
  JSON.stringify([toolPolicy, system, model, cwd]);

type Deps = { sdk: ClaudeSdk; install: ClaudeInstall; env: Record<string, string> };

/** Starts the program for a request. Nothing is sent to the model yet. */
export function openConversation({ sdk, install, env }: Deps, request: EngineRequest, resume: string | null): Conversation {
  const input = createInputStream<ClaudeUserMessage>();
  const process = createClaudeProcess();
  let listener: TurnListener | null = null;
  let alive = true;
  let used = false;
  let toolServers: Record<string, object> = {};

  const query = sdk.query({
    prompt: input,
    options: {
      ...claudeOptions(request, resume, env),
      pathToClaudeCodeExecutable: install.program,
      spawnClaudeCodeProcess: process.spawn,
      canUseTool: async (tool: string, toolInput: Record<string, unknown>) =>
        listener === null ? noTurn : decideTool(listener.request, tool, toolInput),
    },
  });

  const pump = async () => {
    let reason = 'The claude program ended.';
    try {
      for await (const message of query) listener?.onMessage(message);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    alive = false;
    listener?.onEnd([reason, process.stderrTail()].filter(Boolean).join(' '));
  };
  void pump();

  return {
    fingerprint: fingerprintOf(request),
    sessionId: resume,
    query,
    get alive() {
      return alive;
    },
    get used() {
      return used;
    },
    async setToolServers(next) {
      const wanted = toMcpServers(allowedToolServers(next));
      if (isDeepStrictEqual(wanted, toolServers)) return;
      toolServers = wanted;
      await query.setMcpServers(wanted);
    },
    send(content, next) {
      used = true;
      listener = next;
      if (alive) input.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
      else next.onEnd('The claude program was gone already.');
    },
    async close() {
      alive = false;
      listener = null;
      input.end();
      query.close();
      await process.end();
    },
  };
}

const noTurn = { behavior: 'deny', message: 'No turn is running.' } as const;
