import path from 'node:path';
import type { ParentMessage } from '@svc/connector-kit/child-protocol.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { placeholder } from '@svc/service-kit/redaction/placeholder.ts';
import type { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { crashLimit, leanNode, type ChildSpec, type ChildState, type LogLine } from '@svc/supervisor/child-spec.ts';
import { createExitNotes, type ExitNotes } from '@svc/supervisor/exit-reason.ts';
import { createLogFile, readLogTail, type LogFile } from '@svc/supervisor/log-file.ts';
import { createSupervisedChild, type SupervisedChild } from '@svc/supervisor/supervised-child.ts';
import type { ConnectorType } from '../connector-type/find-types.ts';
import { heapLimitMb, memoryLimitMb } from '../connector-type/memory-limit.ts';
import { confine } from './confine.ts';
import { createHeartbeatMonitor, type HeartbeatMonitor } from './heartbeat.ts';
import { handleChildMessage } from './handle-child-message.ts';
import { createInstanceReports, type InstanceReports } from './instance-reports.ts';
import { createMemoryWatch, type MemoryWatch } from './memory-watch.ts';
import { createRunPass, toDoor, type Door, type RunPass } from './run-pass.ts';
import { toRuntimeStatus, type RuntimeStatus } from './runtime-status.ts';
import { createInstanceSecrets, type InstanceSecrets } from './instance-secrets.ts';
import { childStopTimeoutMs, createStartMessage } from './start-message.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';
import { createUsageMeter, type UsageMeter } from './usage-meter.ts';
import { createVaultWait, type VaultWait } from './vault-wait.ts';

/** Long enough for a connector that first talks to its platform. */
const startTimeoutMs = 60_000;

/** One connector instance with its process, liveness, secrets and log. It outlives its processes. */
export class SupervisedInstance {
  readonly #deps: SupervisorDeps;
  readonly #dataDir: string;
  readonly #spec: ChildSpec;
  readonly #child: SupervisedChild;
  readonly #heartbeat: HeartbeatMonitor;
  readonly #secrets: InstanceSecrets;
  readonly #logFile: LogFile;
  readonly #usage: UsageMeter;
  readonly #memory: MemoryWatch;
  readonly #exitNotes: ExitNotes;
  readonly #reports: InstanceReports;
  readonly #wait: VaultWait;
  #pass: RunPass = createRunPass();
  #config: InstanceConfig;
  #type: ConnectorType | null = null;
  /** Of the process that runs: a config that changed counts from the next one on. */
  #limitMb = Infinity;
  #reported: string = 'stopped';
  #pid: number | null = null;
  /** What the process that runs says is wrong with its channel. */
  #problem: string | null = null;

  /** Counts what was asked of it: a start that waits for the compile cache is off when something else is asked meanwhile. */
  #asked = 0;

  /** Not to be started before `configure`. */
  constructor(deps: SupervisorDeps, config: InstanceConfig) {
    this.#deps = deps;
    this.#config = config;
    this.#dataDir = path.join(deps.paths.instances, config.id);
    this.#heartbeat = createHeartbeatMonitor(deps.clock, deps.settings.heartbeatStaleMs, () => this.#tellHeartbeat());
    this.#secrets = createInstanceSecrets(deps.secrets, deps.maskKnown);
    this.#usage = createUsageMeter(deps.clock);
    this.#memory = createMemoryWatch((_pid, limitMb) => this.#child.kill(`used more than ${limitMb} MB of memory`));
    this.#exitNotes = createExitNotes(deps.explainExit);
    this.#reports = createInstanceReports(deps, config);
    this.#wait = createVaultWait(deps.vaultGate, config.id, () => void this.start());
    this.#logFile = createLogFile({ dir: deps.paths.logs, name: `instance-${config.id}` });
    this.#spec = this.#childSpec();
    this.#child = createSupervisedChild(this.#spec, {
      clock: deps.clock,
      onState: (state) => this.#onState(state),
      onMessage: (message) => this.#hear(message),
      onLog: (line) => this.#logFile.write(line),
      earlierLog: readLogTail(this.#logFile.file),
      mask: (text) => deps.maskLine(this.mask(text)),
    });
  }

  /** What the next process is started with; its folder is there from now on. Throws when it cannot be confined. */
  configure(config: InstanceConfig, type: ConnectorType): void {
    makePrivateDir(this.#dataDir);
    const { flags, env } = confine(this.#deps, { type, config: config.config, dataDir: this.#dataDir });
    this.#spec.execArgv = [...leanNode, ...flags];
    this.#spec.env = env;
    this.#spec.heapMb = heapLimitMb(memoryLimitMb(type.meta, config.config, this.#deps.settings.connectorMemoryMb));
    this.#config = config;
    this.#type = type;
  }

  async start(): Promise<void> {
    this.#wait.end();
    if (await this.#isCompiled()) await this.#child.start();
  }

  async restart(): Promise<void> {
    this.#wait.end();
    if (await this.#isCompiled()) await this.#child.restart();
  }

  async stop(): Promise<void> {
    this.#asked++;
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

  /** Takes out what must not be shown: secrets that were given to this instance, and what it shows the manager. */
  mask(text: string): string {
    const { token, proof, link } = this.#pass;
    const secrets = [token.reveal(), proof.reveal(), link.reveal()];
    return secrets.reduce((masked, secret) => masked.replaceAll(secret, placeholder), this.#secrets.mask(text));
  }

  /** Where the process that runs now takes messages; null while it cannot. */
  door(): Door | null {
    const { status, ready } = this.#child.state;
    return status === 'running' ? toDoor(this.#pass, ready) : null;
  }

  /** Names the time since the process was started or last came back from silence; null unless it is well. */
  aliveRun(): string | null {
    const isAlive = this.#child.state.status === 'running' && this.#heartbeat.read().heartbeat === 'fresh';
    return isAlive ? this.#pass.run : null;
  }

  async sampleUsage(): Promise<void> {
    const { pid } = this.#child.state;
    if (pid === null) return;
    await this.#usage.sample(pid);
    const bytes = this.#usage.read(pid)?.memory_bytes;
    if (bytes !== undefined && this.#child.state.pid === pid) this.#memory.look(pid, bytes, this.#limitMb);
  }

  status(): RuntimeStatus {
    const { state } = this.#child;
    return toRuntimeStatus(state, {
      liveness: this.#heartbeat.read(),
      problem: this.#problem,
      usage: state.pid === null ? null : this.#usage.read(state.pid),
      reasonOf: (reason) => this.#exitNotes.read(reason),
      waits: this.#wait.reason(),
    });
  }

  /** False when something else was asked of it meanwhile. */
  async #isCompiled(): Promise<boolean> {
    const turn = ++this.#asked;
    if (this.#type !== null) await this.#deps.compileCache.fill(this.#type, this.#spec);
    return turn === this.#asked;
  }

  #childSpec(): ChildSpec {
    const { childEntry, settings } = this.#deps;
    return {
      name: this.#config.id,
      entry: childEntry,
      env: {},
      cwd: this.#dataDir,
      greeting: () => this.#greeting(),
      startTimeoutMs,
      stopTimeoutMs: childStopTimeoutMs(settings),
      giveUp: () => crashLimit,
    };
  }

  #greeting(): ParentMessage {
    const { settings, passes } = this.#deps;
    const { sessions } = this.#type?.meta.permissions ?? {};
    this.#pass = createRunPass(passes.issue({ type: this.#config.type, instanceId: this.#config.id, sessions }));
    this.#limitMb =
      this.#type === null ? Infinity : memoryLimitMb(this.#type.meta, this.#config.config, settings.connectorMemoryMb);
    return createStartMessage(this.#deps, {
      instance: this.#config,
      entry: this.#type?.entry ?? '',
      dataDir: this.#dataDir,
      pass: this.#pass,
    });
  }

  #hear(message: unknown): void {
    const { log, telemetry } = this.#deps;
    const { token } = this.#pass;
    const deps = {
      log,
      telemetry,
      instance: this.#config,
      credentialKeys: this.#type?.meta.credentialKeys ?? [],
      exclusiveKeys: this.#type?.meta.exclusive ?? [],
      exclusiveSecrets: this.#deps.exclusiveSecrets,
      instanceSecrets: this.#secrets,
      onBeat: () => {
        this.#heartbeat.beat();
        this.#deps.onAlive(this.#config.id);
      },
      onBehindVault: (fault: BehindVault) => void (this.#pass.token === token && this.#waitForVault(fault)),
      onProblem: (text: string | null) => this.#onProblem(text),
      // The next process may have asked something else under the same number.
      reply: (answer: ParentMessage) => void (this.#pass.token === token && this.#child.send(answer)),
    };
    handleChildMessage(deps, message);
  }

  /**
   * One that asks for such a secret while it starts is ended and waits: that is no crash. One that runs is told the error and goes on.
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
      if (state.pid === null) this.#deps.exclusiveSecrets.release(this.#config.id);
      this.#note(state.pid);
    }
    const { status, reason } = this.status();
    if (status === this.#reported) return;
    this.#reported = status;
    if (status === 'running') {
      void this.sampleUsage();
      this.#deps.onAlive(this.#config.id);
    }
    if (reason !== null) void this.#exitNotes.lookInto(reason);
    this.#reports.state({ ...state, status }, reason);
  }

  /** A disk that takes nothing must not end what runs: only a killed manager would miss the note. */
  #note(pid: number | null): void {
    try {
      this.#deps.pidFile.note(this.#config.id, pid);
    } catch (error) {
      this.#deps.log.error({ instance: this.#config.id, err: error }, `its process is not on record: ${errorText(error)}`);
    }
  }

  #onProblem(text: string | null): void {
    this.#problem = text === null ? null : this.#deps.maskLine(this.mask(text));
    this.#reports.problem(this.#problem);
  }

  #tellHeartbeat(): void {
    const { heartbeat } = this.#heartbeat.read();
    if (heartbeat === 'fresh') this.#pass = { ...this.#pass, run: createRunPass().run };
    this.#reports.heartbeat(heartbeat);
  }
}
