import path from 'node:path';
import { isRecord } from '@svc/contract/json-value.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { isSame, readProcess } from '../control/process-facts.ts';
import { openOwnFile } from '@svc/service-kit/transcript/read-lines.ts';
import type { TranscriptStore } from '../transcript/transcript-store.ts';
import { listPanes, type Pane } from '../control/tmux.ts';
import { assignSessions } from './assign-sessions.ts';
import { listEngineProcesses, type EngineProcess } from './engine-processes.ts';

/** The program in which a session runs, and its terminal. */
export type SessionHost = EngineProcess & { pane: Pane | null };
/** By conversation key; null where the system does not show processes. */
export type HostsByKey = ReadonlyMap<string, SessionHost> | null;

type Deps = {
  transcripts: Pick<TranscriptStore, 'since'>;
  clock: Clock;
  /** Folders in which Claude Code records which process runs which session. */
  processFolders: readonly string[];
  serviceSocket: string;
  /** Called with sessions whose program started or ended. */
  onChanged: (keys: string[]) => void;
};

/** How old a result may be, and how often known programs are checked. */
const trustMs = 2000;
const watchMs = 5000;
const maxTranscripts = 500;
const maxProcessFile = 16 * 1024;

/** Which sessions have a running program. While none has, processes are read only on demand. */
export type SessionHosts = {
  /** The state of at most two seconds ago; with `isFresh` the current one. */
  current(isFresh?: boolean): Promise<HostsByKey>;
  /** A transcript was written to, so its program must be running. */
  wrote(key: string): void;
  close(): Promise<void>;
};

export function createSessionHosts(deps: Deps): SessionHosts {
  const { clock, onChanged } = deps;
  let hosts: HostsByKey = new Map();
  let at = Number.NEGATIVE_INFINITY;
  let looking: Promise<HostsByKey> | null = null;
  let stopWatch: (() => void) | null = null;
  let cancelSoon: (() => void) | null = null;
  let isClosed = false;

  const look = async (): Promise<HostsByKey> => {
    const programs = await listEngineProcesses();
    return programs === null ? null : findHosts(programs, deps);
  };
  const refresh = (): Promise<HostsByKey> =>
    (looking ??= look()
      .then((next) => {
        const before = hosts;
        hosts = next;
        at = clock.elapsed();
        watchThem();
        const keys = changedKeys(before, next);
        if (keys.length > 0) onChanged(keys);
        return next;
      })
      .finally(() => (looking = null)));

  const watchThem = () => {
    const isNeeded = !isClosed && hosts !== null && hosts.size > 0;
    if (isNeeded) stopWatch ??= clock.every(watchMs, () => void lookAtThem());
    else {
      stopWatch?.();
      stopWatch = null;
    }
  };
  const lookAtThem = async () => {
    const now = await Promise.all([...(hosts ?? new Map<string, SessionHost>()).values()].map(isAlive));
    if (now.includes(false)) await refresh().catch(() => undefined); // tried again in a moment
  };

  return {
    async current(isFresh = false) {
      if (isFresh && looking !== null) await looking;
      return isFresh || clock.elapsed() - at >= trustMs ? refresh() : hosts;
    },
    wrote(key) {
      if (isClosed || hosts?.has(key) === true) return;
      cancelSoon ??= clock.after(trustMs, () => {
        cancelSoon = null;
        void refresh().catch(() => undefined); // tried again with the next line
      });
    },
    async close() {
      isClosed = true;
      cancelSoon?.();
      stopWatch?.();
      await looking?.catch(() => undefined); // the result is no longer needed
    },
  };
}

async function findHosts(programs: EngineProcess[], { transcripts, serviceSocket, processFolders }: Deps): Promise<HostsByKey> {
  if (programs.length === 0) return new Map();
  const since = Math.min(...programs.map(({ began }) => began)) - trustMs;
  const [rows, panes, named] = await Promise.all([
    transcripts.since(Math.trunc(since), maxTranscripts),
    listPanes(serviceSocket),
    sessionsByProcess(programs, processFolders),
  ]);
  const assigned = assignSessions(programs, rows, named);
  return new Map([...assigned].map(([key, program]) => [key, { ...program, pane: paneOf(program, panes) }]));
}

const isAlive = async (host: SessionHost): Promise<boolean> => isSame(host, await readProcess(host.pid));

/** The terminal whose first program is this one or one of its ancestors. */
const paneOf = ({ pid, ancestors }: EngineProcess, panes: readonly Pane[]): Pane | null =>
  panes.find((pane) => pane.pid === pid || ancestors.includes(pane.pid)) ?? null;

async function sessionsByProcess(programs: readonly EngineProcess[], folders: readonly string[]): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (const { pid, engine, startedAt } of programs) {
    if (engine !== 'claude') continue;
    for (const folder of folders) {
      const id = await namedSession(path.join(folder, `${pid}.json`), startedAt);
      if (id !== null) found.set(pid, id);
    }
  }
  return found;
}

/** The session that the file names, unless it is left over from an earlier process with the same pid. */
async function namedSession(file: string, startedAt: string): Promise<string | null> {
  const handle = await openOwnFile(file);
  if (handle === null) return null;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxProcessFile), 0, maxProcessFile, 0);
    const named: unknown = JSON.parse(buffer.toString('utf8', 0, bytesRead));
    if (!isRecord(named) || named['procStart'] !== startedAt) return null;
    return typeof named['sessionId'] === 'string' ? named['sessionId'] : null;
  } catch {
    return null; // it is being written
  } finally {
    await handle.close();
  }
}

function changedKeys(before: HostsByKey, after: HostsByKey): string[] {
  const keys = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...keys].filter((key) => before?.get(key)?.pid !== after?.get(key)?.pid);
}
