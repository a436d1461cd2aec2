import path from 'node:path';
import type { ParentMessage } from '@svc/connector-kit/child-protocol.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import { placeholder } from '@svc/service-kit/redaction/placeholder.ts';
import type { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { ChildState, LogLine } from '@svc/supervisor/child-spec.ts';
import { createExitNotes, type ExitNotes } from '@svc/supervisor/exit-reason.ts';
import { createLogFile, readLogTail, type LogFile } from '@svc/supervisor/log-file.ts';
import { createSupervisedChild, type SupervisedChild } from '@svc/supervisor/supervised-child.ts';
import type { ConnectorType } from '../connector-type/find-types.ts';
import { createHeartbeatMonitor, type HeartbeatMonitor } from './heartbeat.ts';
import { handleChildMessage } from './handle-child-message.ts';
import { createInstanceLaunch, type InstanceLaunch } from './instance-launch.ts';
import { createInstanceReports, type InstanceReports } from './instance-reports.ts';
import { createMemoryWatch, type MemoryWatch } from './memory-watch.ts';
import { toEndpoint, type Endpoint } from './run-pass.ts';
import { toRuntimeStatus, type RuntimeStatus } from './runtime-status.ts';
import { createInstanceSecrets, type InstanceSecrets } from './instance-secrets.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';
import { createUsageMeter, type UsageMeter } from './usage-meter.ts';
import { createVaultWait, type VaultWait } from './vault-wait.ts';

/** One connector instance with its process, liveness, secrets and log. It outlives its processes. */
export class SupervisedInstance {
  readonly #deps: SupervisorDeps;
  readonly #launch: InstanceLaunch;
  readonly #child: SupervisedChild;
  readonly #heartbeat: HeartbeatMonitor;
  readonly #secrets: InstanceSecrets;
  readonly #logFile: LogFile;
  readonly #usage: UsageMeter;
  readonly #memory: MemoryWatch;
  readonly #exitNotes: ExitNotes;
  readonly #reports: InstanceReports;
  readonly #wait: VaultWait;
  #reported: string = 'stopped';
  #pid: number | null = null;
  /** The problem with its channel that the running process reports. */
  #problem: string | null = null;

  /** `configure` must be called before `start`. */
  constructor(deps: SupervisorDeps, config: InstanceConfig) {
    this.#deps = deps;
    this.#launch = createInstanceLaunch(deps, config, path.join(deps.paths.instances, config.id));
    this.#heartbeat = createHeartbeatMonitor(deps.clock, deps.settings.heartbeatStaleMs, () => this.#reportHeartbeat());
    this.#secrets = createInstanceSecrets(deps.secrets, deps.maskKnown);
    this.#usage = createUsageMeter(deps.clock);
    this.#memory = createMemoryWatch((_pid, limitMb) => this.#child.kill(`used more than ${limitMb} MB of memory`));
    this.#exitNotes = createExitNotes(deps.explainExit);
    this.#reports = createInstanceReports(deps, config);
    this.#wait = createVaultWait(deps.vaultGate, config.id, () => void this.start());
    this.#logFile = createLogFile({ dir: deps.paths.logs, name: `instance-${config.id}` });
    this.#child = createSupervisedChild(this.#launch.spec, {
      clock: deps.clock,
      onState: (state) => this.#onState(state),
      onMessage: (message) => this.#hear(message),
      onLog: (line) => this.#logFile.write(line),
      earlierLog: readLogTail(this.#logFile.file),
      mask: (text) => deps.maskLine(this.mask(text)),
    });
  }

  /** Sets what the next process is started with, and creates its folder. Throws when it cannot be confined. */
  configure(config: InstanceConfig, type: ConnectorType): void {
    this.#launch.configure(config, type);
  }

  async start(): Promise<void> {
    this.#wait.end();
    if (await this.#launch.prepare()) await this.#child.start();
  }

  async restart(): Promise<void> {
    this.#wait.end();
    if (await this.#launch.prepare()) await this.#child.restart();
  }

  async stop(): Promise<void> {
    this.#launch.cancelStart();
    this.#wait.end();
    await this.#child.stop();
  }

  close(): void {
    this.#heartbeat.close();
    this.#logFile.close();
  }

  logs(): LogLine[] {
    return this.#child.logs();
  }

  /** Why its log has gaps, or null. */
  logFault(): string | null {
    return this.#logFile.fault;
  }

  /** Masks the secrets that were given to this instance, and its credentials for the manager and the core. */
  mask(text: string): string {
    const { token, proof, link } = this.#launch.pass();
    const secrets = [token.reveal(), proof.reveal(), link.reveal()];
    return secrets.reduce((masked, secret) => masked.replaceAll(secret, placeholder), this.#secrets.mask(text));
  }

  /** Where the process that runs now takes messages; null while it cannot. */
  endpoint(): Endpoint | null {
    const { status, ready } = this.#child.state;
    return status === 'running' ? toEndpoint(this.#launch.pass(), ready) : null;
  }

  /** The id of the time since the process was started or its heartbeat last returned; null unless it is alive. */
  aliveRun(): string | null {
    const isAlive = this.#child.state.status === 'running' && this.#heartbeat.read().heartbeat === 'fresh';
    return isAlive ? this.#launch.pass().run : null;
  }

  async sampleUsage(): Promise<void> {
    const { pid } = this.#child.state;
    if (pid === null) return;
    await this.#usage.sample(pid);
    const bytes = this.#usage.read(pid)?.memory_bytes;
    if (bytes !== undefined && this.#child.state.pid === pid) this.#memory.look(pid, bytes, this.#launch.limitMb());
  }

  status(): RuntimeStatus {
    const { state } = this.#child;
    return toRuntimeStatus(state, {
      liveness: this.#heartbeat.read(),
      problem: this.#problem,
      usage: state.pid === null ? null : this.#usage.read(state.pid),
      reasonOf: (reason) => this.#exitNotes.read(reason),
      waits: this.#wait.reason(),
      mask: (text) => this.#secrets.mask(text),
    });
  }

  #hear(message: unknown): void {
    const { log, telemetry } = this.#deps;
    const config = this.#launch.config();
    const meta = this.#launch.type()?.meta;
    const { token } = this.#launch.pass();
    const deps = {
      log,
      telemetry,
      instance: config,
      credentialKeys: meta?.credentialKeys ?? [],
      exclusiveKeys: meta?.exclusive ?? [],
      exclusiveSecrets: this.#deps.exclusiveSecrets,
      instanceSecrets: this.#secrets,
      isOfThisRun: () => this.#child.state.pid !== null && this.#launch.pass().token === token,
      onBeat: () => {
        this.#heartbeat.beat();
        this.#deps.onAlive(config.id);
      },
      onBehindVault: (fault: BehindVault) => this.#waitForVault(fault),
      onProblem: (text: string | null) => this.#onProblem(text),
      reply: (answer: ParentMessage) => void this.#child.send(answer),
    };
    handleChildMessage(deps, message);
  }

  /**
   * A process that asks for such a secret while it starts is stopped and waits, which is not a crash. A running one gets the error and continues.
   */
  #waitForVault(fault: BehindVault): void {
    if (this.#child.state.status !== 'starting' || this.#wait.reason() !== null) return;
    this.#wait.begin(fault);
    void this.#child.stop();
  }

  #onState(state: ChildState): void {
    if (state.pid !== this.#pid) {
      this.#pid = state.pid;
      this.#heartbeat.reset();
      this.#problem = null;
      if (state.pid === null) this.#deps.exclusiveSecrets.release(this.#launch.config().id);
      this.#note(state.pid);
    }
    const { status, reason } = this.status();
    if (status === this.#reported) return;
    this.#reported = status;
    if (status === 'running') {
      void this.sampleUsage();
      this.#deps.onAlive(this.#launch.config().id);
    }
    if (reason !== null) void this.#exitNotes.lookInto(reason);
    this.#reports.state({ ...state, status }, reason);
  }

  /** A full disk must not end a running process: the note is needed only if the manager is killed. */
  #note(pid: number | null): void {
    try {
      this.#deps.pidFile.note(this.#launch.config().id, pid);
    } catch (error) {
      this.#deps.log.error(
        { instance: this.#launch.config().id, err: error },
        `its process id cannot be recorded: ${errorText(error)}`,
      );
    }
  }

  #onProblem(text: string | null): void {
    this.#problem = text === null ? null : this.#deps.maskLine(this.mask(text));
    this.#reports.problem(this.#problem);
  }

  #reportHeartbeat(): void {
    const { heartbeat } = this.#heartbeat.read();
    if (heartbeat === 'fresh') this.#launch.renewRun();
    this.#reports.heartbeat(heartbeat);
  }
}
