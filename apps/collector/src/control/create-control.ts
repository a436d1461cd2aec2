import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendKeysRequest } from '@svc/contract/control.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { badRequest, conflict, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';
import { touchesOf } from '../map/touch-store.ts';
import { findProgram, findTarget, type ControlTarget } from './control-target.ts';
import { createCoreSessions } from './core-sessions.ts';
import { endProcess } from './end-process.ts';
import { readTreeDiff, type TreeDiff } from './git-diff.ts';
import { ownProcess, type ProcessFacts } from './process-facts.ts';
import { restartDaemon } from './restart-daemon.ts';
import { checkedKey, checkedText, createTmux, noTerminal } from './tmux.ts';

type Deps = Pick<CollectorContext, 'settings' | 'db' | 'clock' | 'hosts' | 'transcriptStore'>;

/** How long an answer may take to leave before this process ends itself. */
const farewellMs = 200;
const personsPaceMs = 150;
/** Interrupts the engine in a terminal, whichever it is. */
const stopKey = 'Escape';

/** What the control plane can do. Every session is looked up first: what neither the core nor a transcript knows cannot be touched. */
export function createControl({ settings, db, clock, hosts, transcriptStore }: Deps) {
  const { bindHost, corePort, managerPort, managerToken, stopTimeoutMs, dataDir } = settings;
  const { run, supervisorState } = dataPaths(dataDir);
  const sessions = createCoreSessions(`http://${bindHost}:${corePort}`);
  const tmux = createTmux();
  const places = { sessions, hosts, transcriptStore, socket: path.join(run, 'tmux.sock') };
  const target = (key: string) => findTarget(places, key);
  const restartSelf = () => void clock.after(farewellMs, () => void process.kill(process.pid, 'SIGTERM'));

  /** What runs the session and nothing else; null when that is an engine of the core. */
  const processOf = async ({ terminal, program }: ControlTarget): Promise<ProcessFacts | null> => {
    if (program !== null) return ownProcess(program.pid, program.parent);
    return terminal === null ? null : tmux.process(terminal);
  };

  return {
    async kill(key: string, hard: boolean): Promise<object> {
      const found = await target(key);
      const facts = await processOf(found);
      if (facts !== null) {
        if (!(await endProcess(facts, { hard }))) throw unavailable(`Process ${facts.pid} could not be ended.`);
        for (const worker of found.program?.workers ?? []) await endProcess(worker, { hard });
        // From now on the list says so, also to those who were not asked.
        if (found.program !== null) await hosts.current(true);
        return { ended: 'process', pid: facts.pid };
      }
      if (!found.isCore) throw conflict('The program of this session has ended already.');
      if (await hasAborted(sessions.abort(key))) return { ended: 'turn', pid: null };
      throw conflict('This session has no process of its own, and no turn runs in it.');
    },
    async stop(key: string): Promise<object> {
      const { isCore, terminal, program } = await findProgram(places, key);
      if (isCore && terminal === null) await sessions.abort(key);
      else if (program === null) throw conflict('The program of this session has ended already.');
      else if (terminal === null) throw conflict('This session is in no tmux terminal where its work could be stopped.');
      // A person may have taken the session over in a terminal, while the core does nothing in it.
      else if (!isCore || !(await hasAborted(sessions.abort(key)))) await tmux.press(terminal, stopKey);
      return {};
    },
    async sendKeys({ session_id, text, keys, enter }: SendKeysRequest): Promise<object> {
      const isOne = keys === undefined ? text !== undefined || enter === true : text === undefined && enter === undefined;
      if (!isOne) throw badRequest('Send a text, with enter or without, or one of keys.');
      // All of it is checked before a part of it is typed.
      if (text !== undefined) checkedText(text);
      if (keys !== undefined) checkedKey(keys);
      const { terminal } = await target(session_id);
      if (terminal === null) throw noTerminal();
      if (text !== undefined && text !== '') {
        await tmux.type(terminal, text);
        // An Enter that comes with the text would be a part of it: programs take what comes at once for pasted.
        if (enter === true) await sleep(personsPaceMs);
      }
      if (keys !== undefined || enter === true) await tmux.press(terminal, keys ?? 'Enter');
      return {};
    },
    async diff(key: string): Promise<TreeDiff> {
      const { cwd } = await target(key);
      const folder = cwd ?? (await lastFolder(db, key));
      if (folder === null)
        throw conflict('It is not known where this session works: it has no folder, and its tools touched no file.');
      return readTreeDiff(folder);
    },
    async restart(name: string): Promise<object> {
      const managerUrl = `http://${bindHost}:${managerPort}`;
      await restartDaemon(name, { stateFile: supervisorState, managerUrl, managerToken, stopTimeoutMs, restartSelf });
      return {};
    },
  };
}

/** False when nothing was in flight. */
async function hasAborted(abort: Promise<void>): Promise<boolean> {
  try {
    await abort;
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return false;
    throw error;
  }
}

/** Where the tools of a session worked last. */
async function lastFolder(db: Deps['db'], key: string): Promise<string | null> {
  const [touch] = await touchesOf(db, key, 0, 1);
  return touch === undefined ? null : (touch.cwd ?? path.dirname(touch.path));
}
