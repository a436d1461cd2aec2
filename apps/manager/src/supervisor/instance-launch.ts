import type { InstalledPackages, ParentMessage } from '@svc/connector-kit/child-protocol.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { crashLimit, leanNode, type ChildSpec } from '@svc/supervisor/child-spec.ts';
import type { ConnectorType } from '../connector-type/find-types.ts';
import { heapLimitMb, memoryLimitMb } from '../connector-type/memory-limit.ts';
import { confine } from './confine.ts';
import { withEnvironment } from './from-environment.ts';
import { createRunPass, type RunPass } from './run-pass.ts';
import { childStopTimeoutMs, createStartMessage } from './start-message.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';

/** Long enough for a connector that first talks to its platform. */
const startTimeoutMs = 60_000;

type Deps = Pick<SupervisorDeps, 'settings' | 'passes' | 'childEntry' | 'compileCache' | 'packages' | 'webApps'> &
  Parameters<typeof confine>[0] &
  Parameters<typeof createStartMessage>[0];

/** The parameters with which the processes of an instance are started. */
export interface InstanceLaunch {
  /** For the supervisor of the process; changes by `configure` apply to the next process. */
  readonly spec: ChildSpec;
  /** Sets what the next process is started with, and creates its folder. Throws when it cannot be confined. */
  configure(config: InstanceConfig, type: ConnectorType): void;
  config(): InstanceConfig;
  /** Null before `configure`. */
  type(): ConnectorType | null;
  /** The credentials that the manager shares with the process that was started last. */
  pass(): RunPass;
  /** The heartbeat of the process returned: messages sent to it before may be lost. */
  renewRun(): void;
  /** Of the process that was started last. */
  limitMb(): number;
  /** Fills the compile cache, and installs and builds what the type needs. False if a later `prepare` or `cancelStart` replaced this one. */
  prepare(): Promise<boolean>;
  /** Cancels a start that is still being prepared. */
  cancelStart(): void;
}

export function createInstanceLaunch(deps: Deps, first: InstanceConfig, dataDir: string): InstanceLaunch {
  const { settings, passes, childEntry, compileCache, packages, webApps } = deps;
  let config = first;
  let type: ConnectorType | null = null;
  let pass = createRunPass();
  let limitMb = Infinity;
  let installed: InstalledPackages | null = null;
  let requests = 0;

  const memoryOf = (of: ConnectorType) => memoryLimitMb(of.meta, config.config, settings.connectorMemoryMb);
  const greeting = (): ParentMessage => {
    const { sessions } = type?.meta.permissions ?? {};
    pass = createRunPass(passes.issue({ type: config.type, instanceId: config.id, sessions }));
    limitMb = type === null ? Infinity : memoryOf(type);
    return createStartMessage(deps, { instance: config, entry: type?.entry ?? '', dataDir, pass, packages: installed });
  };
  const spec: ChildSpec = {
    name: first.id,
    entry: childEntry,
    env: {},
    cwd: dataDir,
    greeting,
    startTimeoutMs,
    stopTimeoutMs: childStopTimeoutMs(settings),
    giveUp: () => crashLimit,
  };

  return {
    spec,
    configure(stored, of) {
      const next = withEnvironment(stored, settings);
      makePrivateDir(dataDir);
      const { flags, env } = confine(deps, { type: of, config: next.config, dataDir });
      config = next;
      type = of;
      spec.execArgv = [...leanNode, ...flags];
      spec.env = env;
      spec.heapMb = heapLimitMb(memoryOf(of));
    },
    config: () => config,
    type: () => type,
    pass: () => pass,
    renewRun: () => void (pass = { ...pass, run: createRunPass().run }),
    limitMb: () => limitMb,
    async prepare() {
      const request = ++requests;
      if (type !== null) {
        [installed] = await Promise.all([
          packages.install(type, config.config),
          compileCache.fill(type, spec),
          webApps.ensure(type),
        ]);
      }
      return request === requests;
    },
    cancelStart: () => void requests++,
  };
}
