import path from 'node:path';
import type { ParentMessage } from '@svc/connector-kit/child-protocol.ts';
import type { Instance, InstanceConfig } from '@svc/contract/instance.ts';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { pickEnv } from '@svc/supervisor/child-env.ts';
import { leanHeap, type ChildSpec, type ChildState, type LogLine } from '@svc/supervisor/child-spec.ts';
import { createLogFile, type LogFile } from '@svc/supervisor/log-file.ts';
import { createSupervisedChild, type SupervisedChild } from '@svc/supervisor/supervised-child.ts';
import type { ConnectorType } from '../connector-type/find-types.ts';
import { createHeartbeatMonitor, type HeartbeatMonitor } from './heartbeat.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';
import { parseChildMessage } from './parse-child-message.ts';
import { createSecretDesk, type SecretDesk } from './secret-desk.ts';

export type RuntimeStatus = Omit<Instance, keyof InstanceConfig | 'created_at' | 'updated_at'>;

export const notRunning: RuntimeStatus = {
  status: 'stopped',
  pid: null,
  port: null,
  url: null,
  restarts: 0,
  started_at: null,
  last_exit: null,
  healthy: false,
  heartbeat: 'unknown',
  last_heartbeat_at: null,
};

/** Long enough for a connector that first talks to its platform. */
const startTimeoutMs = 60_000;
const longestBeatMs = 30_000;

/** One connector instance with its process, liveness, secrets and log. It outlives its processes. */
export class SupervisedInstance {
  readonly #deps: SupervisorDeps;
  readonly #dataDir: string;
  readonly #type: ConnectorType;
  readonly #child: SupervisedChild;
  readonly #heartbeat: HeartbeatMonitor;
  readonly #desk: SecretDesk;
  readonly #logFile: LogFile;
  #config: InstanceConfig;
  #told: string = 'stopped';
  #pid: number | null = null;

  constructor(deps: SupervisorDeps, type: ConnectorType, config: InstanceConfig) {
    this.#deps = deps;
    this.#type = type;
    this.#config = config;
    this.#dataDir = path.join(deps.paths.instances, config.id);
    this.#heartbeat = createHeartbeatMonitor(deps.clock, deps.settings.heartbeatStaleMs, () => this.#tellHeartbeat());
    this.#desk = createSecretDesk(type.meta, deps.secrets);
    this.#logFile = createLogFile({ dir: deps.paths.logs, name: `instance-${config.id}` });
    this.#child = createSupervisedChild(this.#childSpec(), {
      clock: deps.clock,
      onState: (state) => this.#onState(state),
      onMessage: (message) => this.#hear(message),
      onLog: (line) => this.#logFile.write(line),
      mask: (text) => this.#desk.mask(text),
    });
  }

  /** What the next process is started with; its folder is there from now on. */
  configure(config: InstanceConfig): void {
    makePrivateDir(this.#dataDir);
    this.#config = config;
  }

  async start(): Promise<void> {
    await this.#child.start();
  }

  async restart(): Promise<void> {
    await this.#child.restart();
  }

  async stop(): Promise<void> {
    await this.#child.stop();
  }

  close(): void {
    this.#heartbeat.close();
    this.#logFile.close();
  }

  logs(): LogLine[] {
    return this.#child.logs();
  }

  status(): RuntimeStatus {
    const { status, pid, restarts, startedAt, lastExit, ready } = this.#child.state;
    const liveness = this.#heartbeat.read();
    return {
      status,
      pid,
      port: typeof ready?.['port'] === 'number' ? ready['port'] : null,
      url: typeof ready?.['url'] === 'string' ? ready['url'] : null,
      restarts,
      started_at: startedAt,
      last_exit: lastExit,
      healthy: status === 'running' && liveness.heartbeat !== 'stale',
      ...liveness,
    };
  }

  #childSpec(): ChildSpec {
    const { childEntry, env, settings } = this.#deps;
    return {
      name: this.#config.id,
      entry: childEntry,
      execArgv: leanHeap,
      env: { ...pickEnv(env), SVC_LOG_LEVEL: settings.logLevel },
      cwd: this.#dataDir,
      greeting: () => this.#greeting(),
      startTimeoutMs,
      stopTimeoutMs: this.#stopTimeoutMs(),
    };
  }

  #greeting(): ParentMessage {
    const { settings, paths, version } = this.#deps;
    return {
      type: 'start',
      instanceId: this.#config.id,
      instanceName: this.#config.name,
      connectorType: this.#config.type,
      entry: this.#type.entry,
      config: this.#config.config,
      release: { version: version.version, channel: version.channel, sha: version.sha },
      assistantName: settings.assistantName,
      dataDir: this.#dataDir,
      coreSocket: paths.coreSocket,
      allowedHosts: [settings.bindHost, ...settings.allowedHosts],
      heartbeatMs: Math.min(longestBeatMs, Math.ceil(settings.heartbeatStaleMs / 4)),
      // The connector's own deadline comes first: it knows better how to end.
      stopTimeoutMs: Math.floor(this.#stopTimeoutMs() * 0.9),
    };
  }

  /** Within the manager's own deadline, so that it can see its children end. */
  #stopTimeoutMs(): number {
    return Math.floor(this.#deps.settings.stopTimeoutMs * 0.8);
  }

  #hear(message: unknown): void {
    const heard = parseChildMessage(message);
    if (heard?.type === 'heartbeat') this.#heartbeat.beat();
    if (heard?.type === 'emit')
      this.#deps.telemetry.emit({
        ...this.#desk.maskEvent(heard.event),
        instance_id: this.#config.id,
        surface: this.#config.type,
      });
    if (heard?.type === 'secret') void this.#answerSecret(heard.requestId, heard.name);
  }

  async #answerSecret(requestId: number, name: string): Promise<void> {
    const { value, error } = await this.#desk.answer(name, this.#config.config);
    if (error !== null) this.#deps.log.warn({ instance: this.#config.id, secret: name.slice(0, 100) }, error);
    const reply: ParentMessage = { type: 'secret', requestId, value, error };
    this.#child.send(reply);
  }

  #onState(state: ChildState): void {
    if (state.pid !== this.#pid) {
      this.#pid = state.pid;
      this.#heartbeat.reset();
      this.#note(state.pid);
    }
    if (state.status === this.#told) return;
    this.#told = state.status;
    const reason = state.status === 'backoff' || state.status === 'failed' ? (state.lastExit?.reason ?? null) : null;
    const level = reason === null ? 'info' : 'warn';
    this.#deps.log[level]({ instance: this.#config.id, pid: state.pid, reason }, `instance is ${state.status}`);
    this.#emit(`${this.#config.id} is ${state.status}${reason === null ? '' : `: ${reason}`}`, {
      status: state.status,
      pid: state.pid,
      restarts: state.restarts,
      reason,
    });
  }

  /** A disk that takes nothing must not end what runs: only a killed manager would miss the note. */
  #note(pid: number | null): void {
    try {
      this.#deps.register.note(this.#config.id, pid);
    } catch (error) {
      this.#deps.log.error({ instance: this.#config.id, err: error }, `its process is not on record: ${errorText(error)}`);
    }
  }

  #tellHeartbeat(): void {
    const { heartbeat } = this.#heartbeat.read();
    this.#deps.log.warn({ instance: this.#config.id, heartbeat }, 'the heartbeat changed');
    this.#emit(`${this.#config.id}: heartbeat ${heartbeat}`, { heartbeat });
  }

  #emit(text: string, payload: Record<string, unknown>): void {
    this.#deps.telemetry.emit({
      kind: 'instance',
      instance_id: this.#config.id,
      surface: this.#config.type,
      text,
      payload,
    });
  }
}
