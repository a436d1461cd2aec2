import type { SendKeysRequest } from '@svc/contract/control.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { badRequest, conflict, unavailable } from '@svc/service-kit/service-error.ts';
import path from 'node:path';
import type { CollectorContext } from '../context.ts';
import { touchesOf } from '../map/touch-store.ts';
import { createCoreSessions } from './core-sessions.ts';
import { endProcess } from './end-process.ts';
import { readTreeDiff, type TreeDiff } from './git-diff.ts';
import { restartDaemon } from './restart-daemon.ts';
import { checkedKey, checkedText, createTmux } from './tmux.ts';

type Deps = Pick<CollectorContext, 'settings' | 'db' | 'clock'>;

/** How long an answer may take to leave before this process ends itself. */
const farewellMs = 200;

/** What the control plane can do. Every session is looked up at the core first: what it does not know cannot be touched. */
export function createControl({ settings, db, clock }: Deps) {
  const { bindHost, corePort, managerPort, managerToken, stopTimeoutMs, dataDir } = settings;
  const { run, supervisorState } = dataPaths(dataDir);
  const sessions = createCoreSessions(`http://${bindHost}:${corePort}`);
  const tmux = createTmux(path.join(run, 'tmux.sock'));
  const restartSelf = () => void clock.after(farewellMs, () => void process.kill(process.pid, 'SIGTERM'));

  return {
    async kill(key: string, hard: boolean): Promise<object> {
      const session = await sessions.read(key);
      if (session.multiplexer === null) {
        throw conflict('This session runs in no process of its own, but in an engine of the core. Stop its work instead.');
      }
      const facts = await tmux.process(session);
      if (!(await endProcess(facts, { hard }))) throw unavailable(`Process ${facts.pid} could not be ended.`);
      return { pid: facts.pid };
    },
    async stop(key: string): Promise<object> {
      await sessions.abort(key);
      return {};
    },
    async sendKeys({ session_id, text, keys, enter }: SendKeysRequest): Promise<object> {
      const isOne = keys === undefined ? text !== undefined || enter === true : text === undefined && enter === undefined;
      if (!isOne) throw badRequest('Send a text, with enter or without, or one of keys.');
      // All of it is checked before a part of it is typed.
      if (text !== undefined) checkedText(text);
      if (keys !== undefined) checkedKey(keys);
      const session = await sessions.read(session_id);
      if (text !== undefined && text !== '') await tmux.type(session, text);
      if (keys !== undefined || enter === true) await tmux.press(session, keys ?? 'Enter');
      return {};
    },
    async diff(key: string): Promise<TreeDiff> {
      const { cwd } = await sessions.read(key);
      const folder = cwd ?? (await lastFolder(db, key));
      if (folder === null)
        throw conflict('Nobody knows where this session works: it has no folder, and its tools touched no file.');
      return readTreeDiff(folder);
    },
    async restart(target: string): Promise<object> {
      const managerUrl = `http://${bindHost}:${managerPort}`;
      await restartDaemon(target, { stateFile: supervisorState, managerUrl, managerToken, stopTimeoutMs, restartSelf });
      return {};
    },
  };
}

/** Where the tools of a session worked last. */
async function lastFolder(db: Deps['db'], key: string): Promise<string | null> {
  const [touch] = await touchesOf(db, key, 0, 1);
  return touch === undefined ? null : (touch.cwd ?? path.dirname(touch.path));
}
