import type { ChunkedUploads } from './chunked-uploads.ts';
import type { Readable } from 'node:stream';
import type { Amendment, AmendResult } from '@svc/contract/amend.ts';
import type { Answered, AnswerRequest, Ask, AskAnswer } from '@svc/contract/ask.ts';
import type { Checkout, CheckoutRequest } from '@svc/contract/checkout.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { PartialEvent } from '@svc/contract/event.ts';
import type { ChannelInfo, OutboundMessage } from '@svc/contract/send.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { SpeechBody, Transcription } from '@svc/contract/speech.ts';
import type { TriageAnswer, TriageRequest } from '@svc/contract/triage.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import type { InstalledPackages } from './child-protocol.ts';
import type { SessionsApi } from './sessions-api.ts';
import type { ConnectorState } from './state/state.ts';

/** Called while a turn runs. All optional; a handler must not throw. */
export type StreamHandlers = {
  onQueued?(position: number): void;
  onDelta?(text: string): void;
  onSegment?(text: string): void;
  onThinking?(text: string): void;
  onTool?(tool: { id: string; name: string; input: unknown }): void;
  onToolResult?(result: { id: string; ok: boolean; output: string }): void;
  /**
   * The assistant asks a person, and the turn waits for the answer. Show it with buttons, whose presses go to `CoreApi.answer`, or in
   * words (`askText`): what the person writes then is a message like any other, and the core knows it. Without this handler questions
   * are denied at once.
   */
  onAsk?(ask: Ask): void;
  /** A question is over: its buttons can go. */
  onAsked?(askId: string, answer: AskAnswer): void;
  /**
   * Everything streamed so far is withdrawn; take it back where the channel can. What comes next begins from the start: so does
   * a turn that was taken up again after a break.
   */
  onRetract?(): void;
  /** All deltas of one read have been delivered: the moment to write once. */
  onFlush?(): void;
};

export type CallOptions = {
  /** Trace id of the channel's own request, when it has one. */
  requestId?: string;
  /** The connector will say with `CoreApi.delivered` what became of the reply. Without it, having it is delivery. */
  confirm?: boolean;
  /**
   * The message is safe: it will be answered, or listed as failed, whatever ends. The moment to acknowledge it to the platform. Called
   * at most once, and not for a message whose call ends before it: `denied`, `observed`, an answer it got before, a refusal.
   */
  onAccepted?(turnId: string): void;
  /** This connector, or an earlier process of it, has asked before: the turn is joined, and what was pushed meanwhile is not given again. */
  again?: boolean;
};

export type CoreApi = {
  /**
   * Runs one envelope through the core. Rejects with a `CoreError` when there is no answer. One with a `message_id` is
   * not lost when the core restarts: it waits up to 30 s for it. The outcome `delivered` has nothing to show any more.
   */
  handle(envelope: Envelope, options?: CallOptions): Promise<HandleResult>;
  handleStream(envelope: Envelope, handlers: StreamHandlers, options?: CallOptions): Promise<HandleResult>;
  /**
   * What became of the reply of a turn that was called with `confirm`: it is shown, or with `error` that and why it
   * could not be. Kept while the core is away. Never throws.
   */
  delivered(turnId: string, error?: string): void;
  /**
   * What a person has answered to a question: an option's id, or what they wrote. Rejects with a `CoreError`: `forbidden` for anybody but
   * who is asked, `conflict` when it is over, `not_found`, `bad_request`.
   */
  answer(askId: string, answer: AnswerRequest): Promise<Answered>;
  /**
   * A message was edited or deleted on the channel. What is known of it when this resolves is not forgotten; the same version may be said again.
   * Rejects with a `CoreError` when the core is away or full.
   */
  amend(amendment: Amendment): Promise<AmendResult>;
  /** Effective trust of a sender, without a turn. */
  resolve(envelope: Pick<Envelope, 'channel' | 'sender' | 'public' | 'conversation_key'>): Promise<Identity>;
  /**
   * A copy of a git repository for a conversation to work in: name its `id` in `Envelope.workspace`. Ask before each message; the
   * answer is quick while the copy is fresh. `credential` is the name that the config holds in one of `credentialKeys`, never a value.
   */
  checkout(request: CheckoutRequest): Promise<Checkout>;
  /** What was said in conversations, and what happens in them, for all speakers. */
  sessions: SessionsApi;
};

/** A file that came over the channel. */
export type FileToSave = {
  /** What its sender called it. */
  name: string;
  /** Found out from the name and the content when it is missing. */
  mime?: string;
  /** The bytes, or a stream of them: a Node stream, the `body` of a fetch, any async iterable. Read once, never held whole. */
  data: Uint8Array | AsyncIterable<Uint8Array>;
  /** The conversation it belongs to. */
  conversation_key?: string;
  /** Past it the file is refused (`too_large`); 100 MiB unless given. */
  maxBytes?: number;
};

/** A file on its way out. `data` ends with an error when what is missing will not come. */
export type OpenedFile = { data: Readable; bytes: number; mime: string };

export type UploadsApi = {
  /**
   * Saves a file in the core's upload area; what it gives back goes into an envelope's `attachments`. Rejects with a
   * `ServiceError`: `too_large`, `queue_full` past 8 at once, `unavailable` when the core is away or nothing moves for 30 s.
   */
  save(file: FileToSave): Promise<UploadedFile>;
  /**
   * Opens a file that is to be shown: the `path` of an action, or of a message that is sent. Its stream has to be read or destroyed.
   * Rejects with a `ServiceError`: `forbidden` for a file that neither names, `not_found` for one that is gone, `queue_full` past 8 at once,
   * `unavailable` when the core is away. With a `conversation_key` it has to be a file of that conversation, which is one of this instance.
   */
  open(path: string, of?: { conversation_key: string }): Promise<OpenedFile>;
  /** Files too large for one piece, or over connections that break. */
  chunked: ChunkedUploads;
};

/** Speech through the core, on behalf of a sender: with their rights, and counted as theirs. Rejects with a `ServiceError`. */
export type SpeechApi = {
  /** Resolves when the sound begins. Its body ends with an error when what is missing of it will not come. */
  speak(request: SpeechBody & { sender: string }, signal: AbortSignal): Promise<{ mime: string; body: Readable }>;
  transcribe(clip: ClipToHear, signal: AbortSignal): Promise<Transcription>;
};

/**
 * One question to an engine about a text, beside all conversations: without tools, with the rights of a sender and counted as theirs.
 * The answer has the form that was asked for. Rejects with a `ServiceError`.
 */
export type TriageApi = (question: TriageRequest & { sender: string }, signal: AbortSignal) => Promise<TriageAnswer>;

/** A spoken clip. `sender` is the channel's id of who asks. Without a type its first bytes decide. */
export type ClipToHear = { sender: string; data: Buffer; mime?: string; model?: string; language?: string };

/** What a connector gets (spec: `ctx`). */
export type StartContext<Config = Record<string, unknown>> = {
  instanceId: string;
  instanceName: string;
  type: string;
  /** Validated against the type's `configSchema`, defaults filled in. */
  config: Config;
  /** What `/version` of this process answers. */
  version: VersionInfo;
  /** The assistant's name and a private folder of this instance, which exists. */
  assistantName: string;
  dataDir: string;
  /** Folder of the connector's own code. */
  connectorDir: string;
  /** Where the libraries of `meta.packages` are, or why they are not there; null for an instance that has them switched off. */
  packages: InstalledPackages | null;
  /** Host names of the operator's own, beside the bind address, under which HTTP requests are accepted. */
  allowedHosts: readonly string[];
  /** From the abort of `signal` to the end of the process, ms. */
  stopTimeoutMs: number;
  core: CoreApi;
  /** The value behind a name that the config holds in one of `credentialKeys`. Rejects with a text for the operator. */
  secrets: { get(name: string): Promise<string> };
  uploads: UploadsApi;
  /** What this instance remembers over restarts. */
  state: ConnectorState;
  speech: SpeechApi;
  triage: TriageApi;
  emit(event: PartialEvent): void;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: object): void;
  /**
   * Tells the manager that the channel is alive. The kit beats every 30 s by itself while `health()` is good; a connector
   * that was not well calls it as soon as it is, and what waits for that goes out at once.
   */
  heartbeat(): void;
  /** Aborts on shutdown; ends every loop of the connector. */
  signal: AbortSignal;
  /** For the kit's own routes `/out` and `/channels`; nothing a connector has to touch. */
  outboundAccess: OutboundAccess;
};

/** How the manager and this process know each other on `/out`. Both texts were made for this process alone. */
export type OutboundAccess = {
  /** Shown by the manager with every request. */
  token: string;
  /** Shown by this process with every answer; it never travels towards a port. */
  proof: string;
  /** The routes are mounted. `drain` resolves when no message is on its way to the channel any more. */
  onMount(drain: () => Promise<void>): void;
  /** A file came with a message: what lets this process open it. */
  onTicket?(path: string, ticket: string): void;
};

/** What can be asked of a running instance from outside its channel. What is missing is not supported. */
export type Outbound = {
  /**
   * Shows one message on the channel and resolves when the platform has taken it. To be rejected with a `ServiceError`:
   * `unprocessable` when the channel will never take this message, `busy` with `retry_after_s` in its details when the
   * platform wants a pause; anything else is a fault that may pass. The kit calls it no more for a `message.id` that
   * was taken, also after a restart. `signal` aborts when nobody waits any longer.
   */
  send?(message: OutboundMessage, signal: AbortSignal): Promise<void>;
  /**
   * Does something on the channel or its device, one of `meta.calls`, and resolves with a result that is JSON. The params came from a model
   * or a program and are unchecked. Rejects with a `ServiceError` for the caller. `signal` aborts after a minute, and when nobody waits
   * any longer.
   */
  call?(target: string, method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
  /** The rooms or chats this instance can reach. */
  channels?(): ChannelInfo[] | Promise<ChannelInfo[]>;
  /** Lets a channel relay to the core, or not; takes effect at once and is kept over restarts. Throws `not_found`. */
  toggleChannel?(channelId: string, enabled: boolean): ChannelInfo | Promise<ChannelInfo>;
};

/** `send` and the other abilities of `Outbound` are served by the kit, on a port of its own that only the manager can use. */
export type RunningConnector = Outbound & {
  /** Where the connector listens, when it does. */
  port?: number;
  url?: string;
  /** What `./svc connector add` says once the instance runs: where the channel is found, and what to do next. */
  firstSteps?: string;
  /** An address that opens the channel and says the code of an invitation there, with `{code}` in its place. */
  inviteLink?: string;
  /** Stops taking input, lets running turns finish within the deadline, frees everything. */
  stop(): Promise<void>;
  health(): { healthy: boolean; detail?: string };
};

/** The connector entry contract (spec): a type exports `meta` and `start`, nothing else. */
export type Connector<Config = Record<string, unknown>> = {
  meta: ConnectorMeta;
  start(ctx: StartContext<Config>): Promise<RunningConnector>;
};
