import type { SupervisorState } from '@svc/contract/service.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { exitCodes, lastExitVariable } from '@svc/service-kit/exit-codes.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { busyNode, crashLimit, leanNode, type ChildSpec, type ChildState, type GiveUp } from '@svc/supervisor/child-spec.ts';
import { createExitNotes } from '@svc/supervisor/exit-reason.ts';
import { createLogFile } from '@svc/supervisor/log-file.ts';
import { describeOwner, findPortOwner } from '@svc/supervisor/port-owner.ts';
import type { Spawn } from '@svc/supervisor/spawn-child.ts';
import { createSupervisedChild } from '@svc/supervisor/supervised-child.ts';
import { logWords } from '../logs/log-line.ts';
import type { HostName } from '../service-urls.ts';

/**
 * A host process: its module, its address, and its environment. `isOptional`: the service is useful without it,
 * so it is restarted even during the first start, and nobody waits for it.
 */
export type HostSpec = { name: HostName; entry: string; url: string; env: Record<string, string>; isOptional?: boolean };

export type HostOptions = {
  logsDir: string;
  stopTimeoutMs: number;
  /** True while a person waits for the service to come up. */
  isFirstStart: () => boolean;
  onChange: () => void;
  /** One line for a person, about an unexpected event. */
  onEvent: (line: string) => void;
  /** No process could be started for `spawnPatienceMs`, so this supervisor is useless. */
  onHopeless: (name: HostName, why: string) => void;
  spawnPatienceMs?: number;
  /** Starts the first process of a host, when it was prepared in advance. */
  spawnOf?: (name: HostName) => Spawn | undefined;
};

/** One host process that is kept running. */
export type Host = {
  name: HostName;
  /** Resolves when it is up or has failed. Unlike the supervisor's own start, it keeps waiting while the process is restarted. */
  start(): Promise<void>;
  /** Asks it to stop, and kills it when it does not. It is not restarted. */
  stop(): Promise<void>;
  killNow(): void;
  /** Why its log has gaps; null when it has none. */
  logFault(): string | null;
  view(): HostView;
};

type HostView = SupervisorState['services'][number];

const startTimeoutMs = 60_000;
/** A program may fail to start for a temporary reason, such as a lack of descriptors or a file that is being replaced. */
const usualSpawnPatienceMs = 60_000;
const shownLines = { count: 5, length: 300 };

/** At the first start a person sees the failure. Later it is retried forever: the cause may pass. */
const firstStartLimit: GiveUp = { ...crashLimit, exitCodes: [exitCodes.badSettings, exitCodes.portInUse] };

/** Starts and stops the process of a host. */
export const toChildSpec = ({ name, entry, env }: HostSpec, stopTimeoutMs: number): ChildSpec => ({
  name,
  entry,
  execArgv: name === 'core' ? busyNode : leanNode,
  env,
  lastExitVariable,
  startTimeoutMs,
  // A little longer than the process's own limit, because it knows better how to stop.
  stopTimeoutMs: stopTimeoutMs + 1000,
});

export function createHost(host: HostSpec, options: HostOptions): Host {
  const { name, url, isOptional = false } = host;
  const { logsDir, stopTimeoutMs, isFirstStart, onChange, onEvent } = options;
  const log = createLogFile({ dir: logsDir, name, onFault: () => onChange() });
  const notes = createExitNotes((reason) => explainPort(reason, url));
  let before: ChildState | null = null;
  let stopping = false;
  let everRan = false;
  let onDecided = () => {};
  const spawnWatch = createSpawnWatch(name, options);

  const child = createSupervisedChild(
    {
      ...toChildSpec(host, stopTimeoutMs),
      giveUp: () => (isFirstStart() && !everRan && !isOptional ? firstStartLimit : null),
    },
    { onLog: (line) => log.write(line), onState, spawn: options.spawnOf?.(name) },
  );

  function onState(after: ChildState): void {
    report(before, after);
    before = after;
    everRan ||= after.status === 'running';
    if (after.status === 'running' || after.status === 'failed' || (isOptional && after.status === 'backoff')) onDecided();
    if (stopping) spawnWatch.close();
    else spawnWatch.look(after);
    onChange();
  }

  /** A failure at the first start is reported by the waiting caller. */
  function report(from: ChildState | null, to: ChildState): void {
    if (stopping || (!everRan && to.status === 'failed') || from?.status === to.status) return;
    const say = () => {
      const line = describeChange(name, from, { ...to, lastExit: noted(to.lastExit) });
      if (line !== null) onEvent(line);
    };
    if (to.status !== 'backoff' || to.lastExit?.code !== exitCodes.portInUse) return say();
    void notes.lookInto(to.lastExit.reason).then(() => (say(), onChange()));
  }

  const noted = (exit: ChildState['lastExit']) => (exit === null ? null : { ...exit, reason: notes.read(exit.reason) });

  return {
    name,
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
    logFault: () => (log.fault === null ? null : `the log of the ${name} cannot be written and has gaps (${log.fault})`),
    view: () => toView({ name, url }, { ...child.state, lastExit: noted(child.state.lastExit) }, child.logs()),
  };
}

type SpawnWatch = { look(state: ChildState): void; close(): void };

/** Notices when no process could be started for a while: not one that exited, but none that started at all. */
function createSpawnWatch(
  name: HostName,
  { onHopeless, spawnPatienceMs = usualSpawnPatienceMs }: Pick<HostOptions, 'onHopeless' | 'spawnPatienceMs'>,
): SpawnWatch {
  let why = '';
  let cancel: (() => void) | null = null;
  const close = () => {
    cancel?.();
    cancel = null;
  };
  return {
    look({ pid, status, lastExit }) {
      why = lastExit?.reason ?? '';
      const neverWas = status === 'backoff' && lastExit?.code === null && lastExit.signal === null;
      if (neverWas) cancel ??= systemClock.after(spawnPatienceMs, () => onHopeless(name, why));
      else if (pid !== null) close();
    },
    close,
  };
}

function toView({ name, url }: Pick<HostSpec, 'name' | 'url'>, state: ChildState, lines: readonly { text: string }[]): HostView {
  const { status, pid, restarts, failures, nextStartAt, lastExit } = state;
  return {
    name,
    url,
    pid,
    status,
    restarts,
    failures,
    next_start_at: nextStartAt,
    last_exit: lastExit,
    last_lines: status === 'running' ? [] : lastLines(lines),
  };
}

const lastLines = (lines: readonly { text: string }[]): string[] =>
  lines.slice(-shownLines.count).map(({ text }) => logWords(text).slice(0, shownLines.length));

/** Names the program on the port that the process needs. */
async function explainPort(reason: string, url: string): Promise<string | null> {
  const port = Number(new URL(url).port);
  const owner = await findPortOwner(port);
  return owner === null ? null : `port ${port} is used by ${describeOwner(owner)} (${reason})`;
}

/** What a person should know about a change of a host process; null for an expected one. */
export function describeChange(name: string, before: ChildState | null, after: ChildState): string | null {
  if (before === null || before.status === after.status) return null;
  const reason = (after.lastExit?.reason ?? 'ended').replace(/\.$/, '');
  if (after.status === 'failed') return `${name} ${reason}. It is not started again; ./svc logs ${name} shows more.`;
  if (after.status === 'backoff') {
    const waitS = Math.max(0, (after.nextStartAt ?? 0) - (after.lastExit?.at ?? 0)) / 1000;
    const count = after.failures < 2 ? '' : ` (${after.failures} times in a row)`;
    return `${name} ${reason}${count}. Starting it again ${waitS < 0.05 ? 'now' : `in ${waitS.toFixed(1)} s`}.`;
  }
  if (after.status === 'running' && after.lastExit !== null) return `${name} is back (process ${after.pid}).`;
  return null;
}
