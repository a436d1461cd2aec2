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

/** Called while a turn runs. All are optional; a handler must not throw. */
export type StreamHandlers = {
  onQueued?(position: number): void;
  onDelta?(text: string): void;
  onSegment?(text: string): void;
  onThinking?(text: string): void;
  onTool?(tool: { id: string; name: string; input: unknown }): void;
  onToolResult?(result: { id: string; ok: boolean; output: string }): void;
  /**
   * The assistant asks a person a question, and the turn waits for the answer. Show it with buttons, and pass presses to
   * `CoreApi.answer`; or as text (`askText`): the person's reply is then an ordinary message, which the core recognizes as the
   * answer. Without this handler, questions are denied at once.
   */
  onAsk?(ask: Ask): void;
  /** A question is closed: remove its buttons. */
  onAsked?(askId: string, answer: AskAnswer): void;
  /**
   * Everything streamed so far is withdrawn: remove it if the channel can. The text then starts again from the beginning, as it
   * does when a turn is resumed after a broken connection.
   */
  onRetract?(): void;
  /** All deltas of one read have been delivered: the moment to write once. */
  onFlush?(): void;
};

export type CallOptions = {
  /** Trace id of the channel's own request, when it has one. */
  requestId?: string;
  /**
   * The connector reports with `CoreApi.delivered` whether the reply was shown. Without it, a reply counts as delivered once
   * the connector has received it.
   */
  confirm?: boolean;
  /**
   * The message is stored: it will be answered or listed as failed, even if a process is killed. Acknowledge it to the platform
   * now. Called at most once, and not at all when the call ends earlier: with `denied`, `observed`, an earlier answer or a
   * refusal.
   */
  onAccepted?(turnId: string): void;
  /**
   * This connector, or an earlier process of it, has already sent this message: the call joins its turn, and a reply that was
   * pushed in the meantime is not returned again.
   */
  again?: boolean;
};

export type CoreApi = {
  /**
   * Runs one envelope through the core. Rejects with a `CoreError` when there is no answer. An envelope with a `message_id`
   * survives a restart of the core: the call waits up to 30 s for it. The outcome `delivered` means that there is nothing left
   * to show.
   */
  handle(envelope: Envelope, options?: CallOptions): Promise<HandleResult>;
  handleStream(envelope: Envelope, handlers: StreamHandlers, options?: CallOptions): Promise<HandleResult>;
  /**
   * Reports whether the reply of a turn that was called with `confirm` was shown; `error` says why it could not be. Stored
   * while the core is unreachable. Never throws.
   */
  delivered(turnId: string, error?: string): void;
  /**
   * Passes on a person's answer to a question: an option's id, or the text that they wrote. Rejects with a `CoreError`:
   * `forbidden` for anyone but the person asked, `conflict` when the question is closed, `not_found`, `bad_request`.
   */
  answer(askId: string, answer: AnswerRequest): Promise<Answered>;
  /**
   * Reports that a message was edited or deleted on the channel. The change is stored when this resolves; reporting the same
   * version again does no harm. Rejects with a `CoreError` when the core is unreachable or its queue is full.
   */
  amend(amendment: Amendment): Promise<AmendResult>;
  /** Effective trust of a sender, without a turn. */
  resolve(envelope: Pick<Envelope, 'channel' | 'sender' | 'public' | 'conversation_key'>): Promise<Identity>;
  /**
   * A copy of a git repository for a conversation to work in: name its `id` in `Envelope.workspace`. Ask before each message; the
   * answer is quick while the copy is fresh. `credential` is the name that the config holds in one of `credentialKeys`, never a value.
   */
  checkout(request: CheckoutRequest): Promise<Checkout>;
  /** The history of conversations and their live events, for all participants. */
  sessions: SessionsApi;
};

/** A file received from the channel. */
export type FileToSave = {
  /** What its sender called it. */
  name: string;
  /** If missing, it is detected from the name and the content. */
  mime?: string;
  /**
   * The bytes, or a stream of them: a Node stream, the `body` of a fetch, any async iterable. A stream is read once and never
   * held in memory as a whole.
   */
  data: Uint8Array | AsyncIterable<Uint8Array>;
  /** The conversation it belongs to. */
  conversation_key?: string;
  /** A larger file is refused (`too_large`). Default: 100 MiB. */
  maxBytes?: number;
};

/** A file to be sent. `data` ends with an error when the rest of the file will not arrive. */
export type OpenedFile = { data: Readable; bytes: number; mime: string };

export type UploadsApi = {
  /**
   * Saves a file in the core's upload area; the result goes into an envelope's `attachments`. Rejects with a `ServiceError`:
   * `too_large`, `queue_full` for more than 8 at once, `unavailable` when the core is unreachable or the transfer stalls for 30
   * s.
   */
  save(file: FileToSave): Promise<UploadedFile>;
  /**
   * Opens a file to show: the `path` of an action, or of a message to send. Its stream must be read or destroyed. Rejects with
   * a `ServiceError`: `forbidden` for a file that neither names, `not_found` for a deleted one, `queue_full` for more than 8 at
   * once, `unavailable` when the core is unreachable. With a `conversation_key`, the file must belong to that conversation, and
   * the conversation to this instance.
   */
  open(path: string, of?: { conversation_key: string }): Promise<OpenedFile>;
  /** Uploads in chunks, for large files and unreliable connections. */
  chunked: ChunkedUploads;
};

/** Speech through the core, on behalf of a sender: with their rights, and counted as theirs. Rejects with a `ServiceError`. */
export type SpeechApi = {
  /** Resolves when the audio starts. Its body ends with an error when the rest will not arrive. */
  speak(request: SpeechBody & { sender: string }, signal: AbortSignal): Promise<{ mime: string; body: Readable }>;
  transcribe(clip: ClipToHear, signal: AbortSignal): Promise<Transcription>;
};

/**
 * Asks an engine one question about a text, outside any conversation: without tools, with the sender's rights and at the
 * sender's cost. The answer has the requested form. Rejects with a `ServiceError`.
 */
export type TriageApi = (question: TriageRequest & { sender: string }, signal: AbortSignal) => Promise<TriageAnswer>;

/** An audio clip. `sender` is the channel's id of the person. Without a type, the first bytes decide. */
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
  /** Folder of the libraries of `meta.packages`, or why they are missing; null for an instance that has them turned off. */
  packages: InstalledPackages | null;
  /** Host names, besides the bind address, for which HTTP requests are accepted. */
  allowedHosts: readonly string[];
  /** Time between the abort of `signal` and the end of the process, ms. */
  stopTimeoutMs: number;
  core: CoreApi;
  /** The value behind a name that the config holds in one of `credentialKeys`. Rejects with a text for the operator. */
  secrets: { get(name: string): Promise<string> };
  uploads: UploadsApi;
  /** State of this instance that survives restarts. */
  state: ConnectorState;
  speech: SpeechApi;
  triage: TriageApi;
  emit(event: PartialEvent): void;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: object): void;
  /**
   * Tells the manager that the channel is alive. The kit does this every 30 s while `health()` reports healthy. A connector
   * that recovers should call it at once, so that waiting messages are sent without delay.
   */
  heartbeat(): void;
  /** Aborts on shutdown; ends every loop of the connector. */
  signal: AbortSignal;
  /** For the kit's own routes `/out` and `/channels`; nothing a connector has to touch. */
  outboundAccess: OutboundAccess;
};

/** The secrets by which the manager and this process identify each other on `/out`. Both are made for this process only. */
export type OutboundAccess = {
  /** Shown by the manager with every request. */
  token: string;
  /** Shown by this process with every answer; it never travels towards a port. */
  proof: string;
  /** Called when the routes are mounted. `drain` resolves when no message is on its way to the channel. */
  onMount(drain: () => Promise<void>): void;
  /** Receives the ticket that lets this process open a file of a message. */
  onTicket?(path: string, ticket: string): void;
};

/** Abilities of a running instance that can be used from outside its channel. A missing one is not supported. */
export type Outbound = {
  /**
   * Shows one message on the channel and resolves when the platform has accepted it. Reject with a `ServiceError`:
   * `unprocessable` when the channel will never accept this message, `busy` with `retry_after_s` in its details for a rate
   * limit; any other error counts as temporary. The kit does not call it again for a `message.id` that was accepted, not even
   * after a restart. `signal` aborts when the caller no longer waits.
   */
  send?(message: OutboundMessage, signal: AbortSignal): Promise<void>;
  /**
   * Runs one of `meta.calls` on the channel or its device, and resolves with a JSON result. The params come from a model or a
   * program and are not validated. Rejects with a `ServiceError` for the caller. `signal` aborts after a minute, and when the
   * caller no longer waits.
   */
  call?(target: string, method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
  /** The rooms or chats this instance can reach. */
  channels?(): ChannelInfo[] | Promise<ChannelInfo[]>;
  /** Turns a channel on or off; takes effect at once and survives restarts. Throws `not_found`. */
  toggleChannel?(channelId: string, enabled: boolean): ChannelInfo | Promise<ChannelInfo>;
};

/** `send` and the other abilities of `Outbound` are served by the kit, on a port of its own that only the manager can use. */
export type RunningConnector = Outbound & {
  /** Where the connector listens, when it does. */
  port?: number;
  url?: string;
  /** Text that `./svc connector add` prints once the instance runs: where to find the channel, and what to do next. */
  firstSteps?: string;
  /** Link that opens the channel and sends the code of an invitation there, with `{code}` as the placeholder. */
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
