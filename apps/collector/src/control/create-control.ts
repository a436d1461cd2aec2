import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendKeysRequest } from '@svc/contract/control.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { badRequest, conflict, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';
import { touchesOf } from '../map/touch-store.ts';
import { findProgram, findTarget, type ControlTarget } from './control-target.ts';
import { createCoreSessions } from './core-sessions.ts';
import { endProcess } from './end-process.ts';
import { readTreeDiff, type TreeDiff } from './git-diff.ts';
import { sameProcess, type ProcessFacts } from './process-facts.ts';
import { restartDaemon } from './restart-daemon.ts';
import { checkedKey, checkedText, createTmux, noTerminal } from './tmux.ts';

type Deps = Pick<CollectorContext, 'settings' | 'db' | 'clock' | 'hosts' | 'transcriptStore'>;

/** How long this process waits for its response to be sent before it ends itself. */
const lastResponseMs = 200;
const typingPauseMs = 150;
/** The key that interrupts every engine in a terminal. */
const stopKey = 'Escape';

/** The actions of the control plane. Every session is looked up first: one that neither the core nor a transcript knows cannot be controlled. */
export function createControl({ settings, db, clock, hosts, transcriptStore }: Deps) {
  const { bindHost, corePort, managerPort, managerToken, stopTimeoutMs, dataDir } = settings;
  const { run, supervisorState } = dataPaths(dataDir);
  const sessions = createCoreSessions(`http://${bindHost}:${corePort}`);
  const tmux = createTmux();
  const places = { sessions, hosts, transcriptStore, socket: path.join(run, 'tmux.sock') };
  const target = (key: string) => findTarget(places, key);
  /** A line and its Enter belong together: what someone else types waits. */
  const inTurn = createInTurnByKey({ ofKey: 32, all: 256, what: 'inputs of terminals' });
  const restartSelf = () => void clock.after(lastResponseMs, () => void process.kill(process.pid, 'SIGTERM'));

  /** The process that runs only this session; null if an engine of the core runs it. */
  const processOf = async ({ terminal, program }: ControlTarget): Promise<ProcessFacts | null> => {
    if (program !== null) return sameProcess(program);
    return terminal === null ? null : tmux.process(terminal);
  };

  return {
    async kill(key: string, hard: boolean): Promise<object> {
      const found = await target(key);
      const facts = await processOf(found);
      if (facts !== null) {
        if (!(await endProcess(facts, { hard }))) throw unavailable(`Process ${facts.pid} could not be ended.`);
        for (const worker of found.program?.workers ?? []) await endProcess(worker, { hard });
        // Refreshes the list of sessions for all its readers.
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
      else if (terminal === null) throw conflict('This session does not run in a tmux terminal, so its work cannot be stopped.');
      // A person may have taken over the session in a terminal while the core runs no turn in it.
      else if (!isCore || !(await hasAborted(sessions.abort(key)))) await tmux.press(terminal, stopKey);
      return {};
    },
    async sendKeys({ session_id, text, keys, enter }: SendKeysRequest): Promise<object> {
      const isOne = keys === undefined ? text !== undefined || enter === true : text === undefined && enter === undefined;
      if (!isOne) throw badRequest('Send either text, with or without enter, or keys.');
      // Everything is checked before anything is typed.
      if (text !== undefined) checkedText(text);
      if (keys !== undefined) checkedKey(keys);
      const { terminal } = await target(session_id);
      if (terminal === null) throw noTerminal();
      await inTurn(compositeKey(terminal.socket, terminal.target), async () => {
        if (text !== undefined && text !== '') {
          await tmux.type(terminal, text);
          // Programs treat input that arrives at once as pasted, so an immediate Enter would become part of the text.
          if (enter === true) await sleep(typingPauseMs);
        }
        if (keys !== undefined || enter === true) await tmux.press(terminal, keys ?? 'Enter');
      });
      return {};
    },
    async diff(key: string): Promise<TreeDiff> {
      const { cwd } = await target(key);
      const folder = cwd ?? (await lastFolder(db, key));
      if (folder === null) throw conflict('The folder of this session is unknown: none is set, and its tools touched no file.');
      return readTreeDiff(folder);
    },
    async restart(name: string): Promise<object> {
      const managerUrl = `http://${bindHost}:${managerPort}`;
      await restartDaemon(name, { stateFile: supervisorState, managerUrl, managerToken, stopTimeoutMs, restartSelf });
      return {};
    },
  };
}

/** False if no turn was running. */
async function hasAborted(abort: Promise<void>): Promise<boolean> {
  try {
    await abort;
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return false;
    throw error;
  }
}

/** The folder in which the tools of a session last worked. */
async function lastFolder(db: Deps['db'], key: string): Promise<string | null> {
  const [touch] = await touchesOf(db, key, 0, 1);
  return touch === undefined ? null : (touch.cwd ?? path.dirname(touch.path));
}
