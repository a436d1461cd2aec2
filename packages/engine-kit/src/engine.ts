import type { AskAnswer, AskOption } from '@svc/contract/ask.ts';
import type { Attachment, PriorMessage } from '@svc/contract/envelope.ts';
import type { AskPolicy, Tier, ToolPolicy } from '@svc/contract/trust.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { ErrorCode } from '@svc/contract/error-body.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

/** A tool server (MCP) that one turn may use. `safe` ones are also available to callers who may only read. */
export type ToolServer = {
  name: string;
  safe: boolean;
  /** Timeout of a call in which a person may be asked, ms; otherwise the engine's own timeout applies. */
  callTimeoutMs?: number;
} & (
  | { type: 'stdio'; command: string; args: string[]; env: Record<string, string> }
  | { type: 'http'; url: string; headers: Record<string, string> }
);

/** Facts of the turn that an engine may show to its model. They are already part of `prompt`, and grant no rights. */
export type TurnFacts = {
  channel: string;
  sender: string;
  tier: Tier;
  public: boolean;
  /** The channel's context of this message, as the connector sent it. */
  channel_context: Record<string, unknown>;
};

/** A file of a message. `missing`: it was removed since it was sent, or is not available; there is no file at its path. */
export type TurnFile = Attachment & { missing?: true };

/** A question of an engine to the person of the turn. The ids and labels of its options are distinct. */
export type Question = { text: string; options: readonly AskOption[] };

/** What requires asking first. */
export type Asking = Exclude<AskPolicy, 'never'>;

export type EngineRequest = {
  /** Our conversation key: a warm process belongs to exactly one conversation. */
  conversationKey: string;
  /** Purpose of a call without a session, after which nothing is kept open. */
  purpose?: 'title' | 'triage';
  /** The user message as the model receives it, with the turn's context. */
  prompt: string;
  /** Only the sender's own text, for an engine without a model. */
  text: string;
  /** The stable persona. It is the same in each turn, for the benefit of caches and resumed sessions. */
  system: string;
  /** Files of this message, with absolute paths in `filesDir`. */
  attachments: TurnFile[];
  /**
   * Folder of all files that were sent in the conversation. Every policy but `none` may read it; it may not exist. Null for a side call.
   */
  filesDir: string | null;
  /** Earlier messages, for a new engine session in a channel that already has a history. */
  transcript: PriorMessage[];
  /** The engine's session id to resume, or null for a new session. */
  resume: string | null;
  model: string | null;
  /** An existing absolute folder. It may change from turn to turn. */
  cwd: string;
  /** The operator trusts that content of `cwd` is executed: a project's tool servers, hooks and settings. Never set below `full`. */
  trustedFolder: boolean;
  toolPolicy: ToolPolicy;
  toolServers: ToolServer[];
  /** What the person is asked about before it is done, within the tool policy. Only set together with `ask`. */
  asks?: Asking;
  /** Asks the person of the turn; questions are asked one after the other. Never rejects; a question without a timely answer is denied. */
  ask?(question: Question): Promise<AskAnswer>;
  facts: TurnFacts;
};

/** Why a turn failed, as text on which a person can act. `retryAfterMs`: the time that the upstream named, if any. */
export type EngineFailure = {
  code: Extract<ErrorCode, `engine_${string}`>;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
};

/**
 * Events of a running turn. The last event is exactly one of `done`, `failed` and `aborted`, and the stream never throws. `segment` ends a
 * block of text that was streamed as deltas, or contains a whole block without deltas.
 */
export type EngineEvent =
  | { type: 'session'; engineSessionId: string; resumed: boolean; model: string | null }
  | { type: 'delta'; text: string }
  | { type: 'segment'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; id: string; ok: boolean; output: string }
  /** A notice for the operator: a retry, a resume id that the engine no longer knows, or a missing tool server. */
  | { type: 'notice'; code: 'retry' | 'session_unknown' | 'other'; message: string }
  | { type: 'notice'; code: 'tool_server_missing'; message: string; toolServer: string }
  | { type: 'usage'; usage: TokenUsage }
  | { type: 'done' }
  | { type: 'failed'; failure: EngineFailure }
  | { type: 'aborted' };

/** The instructions of a turn, apart from its messages and tools. */
export type Instructions = {
  /** The exact text that the engine passes to its program. */
  text: string;
  /** What the program adds to it, one line each, as observed in the version for which the driver is written. */
  added: readonly string[];
};

/**
 * `resume`: the engine session to resume; null for a new one. `cwd`: an existing absolute folder. `model`: null for the program's default.
 */
export type TerminalRequest = { resume: string | null; cwd: string; model: string | null };

/** `engineSessionId`: id of the session that will be used; null when only the program knows it. */
export type EngineTerminal = {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  engineSessionId: string | null;
};

/** How the engine is paid for: with a subscription nothing per turn, with an API key every token. */
export type EngineAuth = 'subscription' | 'api_key' | 'local' | 'none';

/** The result of a check of this machine. `reason` says in one line why the engine is ready or what is missing. */
export type EngineProbe = {
  installed: boolean;
  version: string | null;
  path: string | null;
  auth: EngineAuth;
  ready: boolean;
  reason: string;
  /** The vendor's program and its first arguments, for direct use: its version, a login. */
  program?: readonly string[];
};

/**
 * A reasoning engine. One instance serves all conversations; `run` is called for one turn of a conversation at a time (the caller holds the
 * conversation's lock).
 */
export interface Engine {
  readonly id: string;
  /** Checks the machine without starting a turn, in a few seconds at most. The caller caches the result. */
  probe(): Promise<EngineProbe>;
  /**
   * Runs one turn. Aborting the signal ends it: the model stream is closed, the turn's child processes are ended, the last event is
   * `aborted`, and the session can be resumed later. An unknown resume id starts a new session, which a `notice` reports.
   */
  run(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** The instructions of a turn with this request; without this method, just `system`. Starts nothing. */
  instructions?(request: EngineRequest): Promise<Instructions>;
  /**
   * What the engine can ask a person about. If a turn requires asking about more, it gets a lower tool policy that leaves nothing to ask
   * about.
   */
  readonly asks?: readonly Asking[];
  /**
   * The program for a person who works with it in a terminal; missing when there is none. Returns its arguments and its complete
   * environment, or why it cannot be used. Starts nothing. No turn of the session may be running or start meanwhile.
   */
  terminal?(request: TerminalRequest): Promise<EngineTerminal | { problem: string }>;
  /** Another program continues the session: once this resolves, nothing that was kept open between turns uses or caches it. */
  letGo?(engineSessionId: string): Promise<void>;
  /**
   * Permanently removes what the program stores of a session on this machine, and closes what is open of it. An unknown session counts as
   * removed. No turn of the session may be running or start meanwhile. Missing when nothing is stored. Rejects, with a reason on which a
   * person can act, when it could not be removed.
   */
  forget?(engineSessionId: string): Promise<void>;
  /** Whether a turn with this message can use tool servers; if missing, always. */
  usesTools?(text: string): boolean;
  /** Ends warm processes and removes temporary files. `run` is not called after it. */
  close(): Promise<void>;
}

/** What the core passes to an engine when it creates it. */
export type EngineDeps = {
  /** Folder for this engine's own state in the data folder; it exists and has mode 0700. */
  stateDir: string;
  /** Folder of engines that were installed on demand: `<enginesDir>/<id>/current`. */
  enginesDir: string;
  /** Explicit path from the settings, which takes precedence over all other places. */
  path: string | null;
  /** The environment to choose from. An engine passes on only the names that it needs. */
  env: Readonly<Record<string, string | undefined>>;
  baseUrl: string | null;
  /** The key for API-key mode only. It is passed to the engine's own program or the model service, and nowhere else. */
  apiKey?: Secret | null;
  /** Module with the script of the offline engine. */
  script: string | null;
  /** Maximum number of programs kept open between turns. */
  warm: number;
  /** Maximum memory of a program kept open, including its child processes, bytes. A larger one is replaced. */
  warmMemory: number;
  /** Maximum length of a line that a program writes, in characters. */
  maxLine: number;
  log: EngineLog;
};

export type EngineLog = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** Each engine package exports this from `src/engine.ts`. */
export type CreateEngine = (deps: EngineDeps) => Engine;
