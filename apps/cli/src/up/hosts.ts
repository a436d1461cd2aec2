import type { SupervisorState } from '@svc/contract/service.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { busyNode, leanNode, type ChildState } from '@svc/supervisor/child-spec.ts';
import { createLogFile } from '@svc/supervisor/log-file.ts';
import { createSupervisedChild } from '@svc/supervisor/supervised-child.ts';
import type { HostName } from '../service-urls.ts';
import { killGroup } from './kill-group.ts';

/** A host process to run: its module, where it will listen, what it may see of the environment. */
export type HostSpec = { name: HostName; entry: string; url: string; env: Record<string, string> };

type Options = {
  logsDir: string;
  stopTimeoutMs: number;
  onChange: () => void;
  /** One line for a person, when something happened that nobody asked for. */
  onEvent: (line: string) => void;
};

export type Hosts = {
  /** Spawns all at once; resolves when each is up, has failed, or `waitMs` is over. */
  start(waitMs: number): Promise<void>;
  /** The collector ends last, so that the others can hand over what they know. */
  stop(): Promise<void>;
  killNow(): void;
  state(): SupervisorState['services'];
};

const startTimeoutMs = 60_000;

export function createHosts(specs: readonly HostSpec[], options: Options): Hosts {
  const hosts = specs.map((spec) => createHost(spec, options));
  const stopAll = (some: typeof hosts) => Promise.all(some.map((host) => host.stop()));
  return {
    async start(waitMs) {
      const up = Promise.all(hosts.map((host) => host.start()));
      let cancel = () => {};
      const patience = new Promise((resolve) => {
        cancel = systemClock.after(waitMs, () => resolve(undefined));
      });
      await Promise.race([up, patience]);
      cancel();
    },
    async stop() {
      await stopAll(hosts.filter((host) => host.name !== 'collector'));
      await stopAll(hosts.filter((host) => host.name === 'collector'));
    },
    killNow() {
      for (const host of hosts) host.killNow();
    },
    state: () => hosts.map((host) => host.view()),
  };
}

function createHost({ name, entry, url, env }: HostSpec, { logsDir, stopTimeoutMs, onChange, onEvent }: Options) {
  const log = createLogFile({ dir: logsDir, name });
  let before: ChildState | null = null;
  let stopping = false;
  let everRan = false;
  let onDecided = () => {};
  const child = createSupervisedChild(
    // A little longer than the process gives itself, which knows better how to end.
    {
      name,
      entry,
      execArgv: execArgvOf(name),
      env,
      startTimeoutMs,
      stopTimeoutMs: stopTimeoutMs + 1000,
      fatalExitCodes: [exitCodes.badSettings, exitCodes.portInUse],
    },
    {
      onLog: (line) => log.write(line),
      onState(after) {
        // What fails at the start is told by whoever waits for it.
        const isTold = stopping || (!everRan && after.status === 'failed');
        const line = isTold ? null : describeChange(name, before, after);
        before = after;
        if (line !== null) onEvent(line);
        everRan ||= after.status === 'running';
        if (after.status === 'running' || after.status === 'failed') onDecided();
        onChange();
      },
    },
  );
  return {
    name,
    /** Unlike the supervisor's own start, goes on waiting while the process is tried again. */
    start: () =>
      new Promise<void>((resolve) => {
        onDecided = resolve;
        void child.start();
      }),
    async stop() {
      stopping = true;
      await child.stop();
      log.close();
    },
    killNow() {
      const { pid } = child.state;
      if (pid !== null) killGroup(pid);
    },
    view: (): SupervisorState['services'][number] => ({
      name,
      url,
      pid: child.state.pid,
      status: child.state.status,
      restarts: child.state.restarts,
      last_exit: child.state.lastExit,
    }),
  };
}

const execArgvOf = (name: HostName): string[] => (name === 'core' ? busyNode : leanNode);

/** What a person should know of a change; null for what was to be expected. */
export function describeChange(name: string, before: ChildState | null, after: ChildState): string | null {
  if (before === null || before.status === after.status) return null;
  const reason = (after.lastExit?.reason ?? 'ended').replace(/\.$/, '');
  if (after.status === 'failed') return `${name} ${reason}. It is not started again; ./svc logs ${name} shows more.`;
  if (after.status === 'backoff') {
    const waitS = Math.max(0, (after.nextStartAt ?? 0) - (after.lastExit?.at ?? 0)) / 1000;
    return `${name} ${reason}. Starting it again ${waitS < 0.05 ? 'now' : `in ${waitS.toFixed(1)} s`}.`;
  }
  if (after.status === 'running' && after.lastExit !== null) return `${name} is back (process ${after.pid}).`;
  return null;
}
