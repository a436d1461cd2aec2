import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { PartialEvent } from '@svc/contract/event.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Identity } from '@svc/contract/trust.ts';

/** Called while a turn runs. All optional; a handler must not throw. */
export type StreamHandlers = {
  onQueued?(position: number): void;
  onDelta?(text: string): void;
  onSegment?(text: string): void;
  onThinking?(text: string): void;
  onTool?(tool: { id: string; name: string; input: unknown }): void;
  onToolResult?(result: { id: string; ok: boolean; output: string }): void;
  /**
   * Everything streamed so far is withdrawn; take it back where the channel can. What comes next begins anew: so does
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
  /** Effective trust of a sender, without a turn. */
  resolve(envelope: Pick<Envelope, 'channel' | 'sender' | 'public' | 'conversation_key'>): Promise<Identity>;
};

/** What a connector gets (spec: `ctx`). */
export type StartContext<Config = Record<string, unknown>> = {
  instanceId: string;
  instanceName: string;
  type: string;
  /** Validated against the type's `configSchema`, defaults filled in. */
  config: Config;
  /** What `/version` of this process tells. */
  version: VersionInfo;
  /** The assistant's name and a private folder of this instance, which exists. */
  assistantName: string;
  dataDir: string;
  /** Folder of the connector's own code. */
  connectorDir: string;
  /** Host names of the operator's own, beside the bind address, under which HTTP requests are accepted. */
  allowedHosts: readonly string[];
  /** From the abort of `signal` to the end of the process, ms. */
  stopTimeoutMs: number;
  core: CoreApi;
  secrets: { get(name: string): Promise<string> };
  emit(event: PartialEvent): void;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: object): void;
  /** Tells the manager that the channel is alive. The kit beats every 30 s by itself while `health()` is good. */
  heartbeat(): void;
  /** Aborts on shutdown; ends every loop of the connector. */
  signal: AbortSignal;
};

export type RunningConnector = {
  /** Where the connector listens, when it does. */
  port?: number;
  url?: string;
  /** Stops taking input, lets running turns finish within the deadline, frees everything. */
  stop(): Promise<void>;
  health(): { healthy: boolean; detail?: string };
};

/** The connector entry contract (spec): a type exports `meta` and `start`, nothing else. */
export type Connector<Config = Record<string, unknown>> = {
  meta: ConnectorMeta;
  start(ctx: StartContext<Config>): Promise<RunningConnector>;
};
