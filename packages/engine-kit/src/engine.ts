import type { AskAnswer, AskOption } from '@svc/contract/ask.ts';
import type { Attachment, PriorMessage } from '@svc/contract/envelope.ts';
import type { AskPolicy, Tier, ToolPolicy } from '@svc/contract/trust.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { ErrorCode } from '@svc/contract/error-body.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

/** A tool server (MCP) offered to one turn. `safe` ones are also offered to callers who may only read. */
export type ToolServer = {
  name: string;
  safe: boolean;
  /** How long a call may take, ms, where a person may be asked in it; else the engine's own limit holds. */
  callTimeoutMs?: number;
} & (
  | { type: 'stdio'; command: string; args: string[]; env: Record<string, string> }
  | { type: 'http'; url: string; headers: Record<string, string> }
);

/** Facts of the turn that an engine may show to its model. Already part of `prompt`; never authority. */
export type TurnFacts = {
  channel: string;
  sender: string;
  tier: Tier;
  public: boolean;
  /** The channel's own words on this message, as the connector gave them. */
  channel_context: Record<string, unknown>;
};

/** A file of a message. `missing`: it was removed since it was sent, or cannot be given; nothing lies at its path. */
export type TurnFile = Attachment & { missing?: true };

/** What an engine asks the person of the turn. The options' ids and labels differ. */
export type Question = { text: string; options: readonly AskOption[] };

/** What is asked about before it is done. */
export type Asking = Exclude<AskPolicy, 'never'>;

export type EngineRequest = {
  /** Our conversation key: a warm process belongs to exactly one. */
  conversationKey: string;
  /** A side call without a session: nothing is kept open after it. */
  purpose?: 'title' | 'triage';
  /** The user message, per-turn context included: what a model gets. */
  prompt: string;
  /** The sender's own words alone, for an engine that is no model. */
  text: string;
  /** The stable persona. The same from turn to turn, so that caches hold and resuming works. */
  system: string;
  /** Files that came with this message, absolute paths in `filesDir`. */
  attachments: TurnFile[];
  /** Folder of all files that came with the conversation. Every policy but `none` may read it; it need not exist. Null for a side call. */
  filesDir: string | null;
  /** Messages before this one, for an engine session that is new while the channel knows a past. */
  transcript: PriorMessage[];
  /** The engine's own session id to go on with, or null to begin. */
  resume: string | null;
  model: string | null;
  /** Absolute folder that is there. It may change from turn to turn. */
  cwd: string;
  /** The operator trusts what lies in `cwd` to be run: tool servers, hooks and settings of a project. Never below `full`. */
  trustedFolder: boolean;
  toolPolicy: ToolPolicy;
  toolServers: ToolServer[];
  /** What the person is asked about before it is done, of that which the tool policy allows. Only where there is `ask`. */
  asks?: Asking;
  /** Asks the person of the turn, one question after the other. Never rejects; whatever is not answered in time is denied. */
  ask?(question: Question): Promise<AskAnswer>;
  facts: TurnFacts;
};

/** Why a turn failed, as text a person can act on. `retryAfterMs` when the upstream named a time. */
export type EngineFailure = {
  code: Extract<ErrorCode, `engine_${string}`>;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
};

/**
 * What an engine says while it works. The last event is exactly one of `done`, `failed`, `aborted`; nothing follows it,
 * and the stream never throws. `segment` closes a block of text that came as deltas (or came whole, without deltas).
 */
export type EngineEvent =
  | { type: 'session'; engineSessionId: string; resumed: boolean; model: string | null }
  | { type: 'delta'; text: string }
  | { type: 'segment'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; id: string; ok: boolean; output: string }
  /** Something worth reporting to the operator: a retry, a resume id the engine no longer knew, a tool server that is missing. */
  | { type: 'notice'; code: 'retry' | 'session_unknown' | 'other'; message: string }
  | { type: 'notice'; code: 'tool_server_missing'; message: string; toolServer: string }
  | { type: 'usage'; usage: TokenUsage }
  | { type: 'done' }
  | { type: 'failed'; failure: EngineFailure }
  | { type: 'aborted' };

/** The instructions of a turn, beside its messages and tools. */
export type Instructions = {
  /** To the letter, as the engine hands it to its program. */
  text: string;
  /** What the program adds to it, a line each, as it was seen at the version that the driver is written for. */
  added: readonly string[];
};

/** `resume`: the engine's own session to go on with; null begins one. `cwd`: absolute, and there. `model`: null leaves it to the program. */
export type TerminalRequest = { resume: string | null; cwd: string; model: string | null };

/** `engineSessionId`: of the session that it will have; null when only the program knows. */
export type EngineTerminal = {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  engineSessionId: string | null;
};

/** How the engine pays: a subscription bills nothing per turn, an API key bills every token. */
export type EngineAuth = 'subscription' | 'api_key' | 'local' | 'none';

/** What a look at this machine found. `reason` says in one line why the engine is ready or what is missing. */
export type EngineProbe = {
  installed: boolean;
  version: string | null;
  path: string | null;
  auth: EngineAuth;
  ready: boolean;
  reason: string;
  /** The vendor's program and its first arguments, for what a person or a test asks it: its version, a login. */
  program?: readonly string[];
};

/**
 * A reasoning engine. One instance serves every conversation; `run` is called for one turn of a conversation at a time
 * (the caller holds the conversation's lock).
 */
export interface Engine {
  readonly id: string;
  /** Looks at the machine without starting a turn. Bounded: a few seconds at most. Cached by the caller. */
  probe(): Promise<EngineProbe>;
  /**
   * Runs one turn. Aborting the signal ends the turn: the model stream is cut, children of the turn are gone, the last
   * event is `aborted`, and the engine's session can go on later. A resume id the engine does not know begins a new
   * session and says so in a `notice`.
   */
  run(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** The instructions of a turn with this request; where this is missing, `system` alone. Starts nothing. */
  instructions?(request: EngineRequest): Promise<Instructions>;
  /**
   * What it can ask a person about. In a turn of a person who is to be asked about more than that it gets a lower tool policy
   * instead: one under which nothing is left to ask about.
   */
  readonly asks?: readonly Asking[];
  /**
   * The program as a person works with it in a terminal; where this is missing, it has none. What is given back are its
   * arguments and all of its environment, or why it cannot be. Starts nothing. No turn of the session runs, and none begins.
   */
  terminal?(request: TerminalRequest): Promise<EngineTerminal | { problem: string }>;
  /** Another program goes on with the session: when this resolves, nothing that was kept open between turns holds it or remembers it. */
  letGo?(engineSessionId: string): Promise<void>;
  /**
   * Removes for good what the program keeps of a session on this machine, and closes what is open of it. One that it does not know is
   * removed already. No turn of the session runs, and none begins. Where this is missing, nothing is kept. Rejects when it could not be
   * removed, with a reason that a person can act on.
   */
  forget?(engineSessionId: string): Promise<void>;
  /** Whether a turn with this message has a use for tool servers; always, where it is missing. */
  usesTools?(text: string): boolean;
  /** Ends warm processes and temporary files. After it `run` is not called. */
  close(): Promise<void>;
}

/** What the core hands to an engine when it creates it. */
export type EngineDeps = {
  /** Folder of this engine's own state under the data folder; exists, mode 0700. */
  stateDir: string;
  /** Where engines installed on demand lie: `<enginesDir>/<id>/current`. */
  enginesDir: string;
  /** Explicit path from the settings, before any other place. */
  path: string | null;
  /** Environment to draw from. An engine passes on only the names it needs. */
  env: Readonly<Record<string, string | undefined>>;
  baseUrl: string | null;
  /** Key to pay with, in API-key mode alone. It goes to the engine's own program or to the model service, nowhere else. */
  apiKey?: Secret | null;
  /** Module that scripts the offline engine. */
  script: string | null;
  /** How many programs are kept open between turns. */
  warm: number;
  /** Bytes that a program which is kept open may hold, with all it has started. One that holds more is replaced. */
  warmMemory: number;
  /** Longest line that a program may write, in characters. */
  maxLine: number;
  log: EngineLog;
};

export type EngineLog = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** Every engine package exports this from `src/engine.ts`. */
export type CreateEngine = (deps: EngineDeps) => Engine;
