/**
 * The parts of the app-server's protocol that we use, written by hand from its real output. Everything else is ignored, so that additions
 * of a new version do no harm.
 */
export type ThreadItem =
  | { type: 'agentMessage'; id: string; text: string }
  | {
      type: 'commandExecution';
      id: string;
      command: string;
      cwd: string;
      status: ItemStatus;
      aggregatedOutput: string | null;
      exitCode: number | null;
    }
  | { type: 'fileChange'; id: string; changes: { path: string; diff?: string }[]; status: ItemStatus }
  | {
      type: 'mcpToolCall';
      id: string;
      server: string;
      tool: string;
      arguments: unknown;
      status: ItemStatus;
      result: { content: unknown[] } | null;
      error: { message: string } | null;
    }
  | { type: 'webSearch'; id: string; query?: string }
  | { type: 'imageView'; id: string; path: string };

export type ItemStatus = 'inProgress' | 'completed' | 'failed' | 'declined';

export type TokenCounts = {
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
};

export type TurnError = { message: string; codexErrorInfo: CodexErrorInfo | null; additionalDetails?: string | null };

/** A code, or an object whose only key is the code and whose value may contain the HTTP status. */
export type CodexErrorInfo = string | Record<string, { httpStatusCode?: number | null } | null>;

/** Notifications that belong to a turn, by method. */
export type TurnNotification =
  | { method: 'turn/started'; params: { turn: { id: string } } }
  | { method: 'item/started' | 'item/completed'; params: { item: ThreadItem } }
  | { method: 'item/agentMessage/delta'; params: { delta: string } }
  | { method: 'item/reasoning/summaryTextDelta' | 'item/reasoning/textDelta'; params: { delta: string } }
  | { method: 'item/reasoning/summaryPartAdded'; params: { summaryIndex: number } }
  | { method: 'thread/tokenUsage/updated'; params: { tokenUsage: { total: TokenCounts; last: TokenCounts } } }
  | { method: 'mcpServer/startupStatus/updated'; params: { name: string; status: string; error: string | null } }
  | { method: 'model/rerouted'; params: { fromModel: string; toModel: string } }
  | { method: 'error'; params: { error: TurnError; willRetry: boolean } }
  | { method: 'thread/closed'; params: object }
  | {
      method: 'turn/completed';
      params: { turn: { id: string; status: 'completed' | 'interrupted' | 'failed'; error: TurnError | null } };
    };

export type Thread = { thread: { id: string }; model: string };
