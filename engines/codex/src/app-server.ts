import type { EngineLog } from '@svc/engine-kit/engine.ts';
import { refuse, type Approvals } from './approvals.ts';
import { startRpcClient, type RpcClient } from './json-rpc.ts';
import { createListeners, type Listeners } from './listeners.ts';
import { appServerArgs } from './thread-config.ts';

export type AppServer = Pick<RpcClient, 'pid' | 'request' | 'ended' | 'ending' | 'stop' | 'kill' | 'endOrphans'> & {
  /** Calls back for each notification, and once when the process has ended; the returned function unsubscribes. */
  subscribe: Listeners['add'];
  /** Answers codex's questions in a thread; the returned function ends this. Without it, every question is denied. */
  answerFor(threadId: string, answer: Approvals['answer']): () => void;
};

export type AppServerSpec = {
  program: string;
  env: Record<string, string>;
  cwd: string;
  log: EngineLog;
  /** Maximum length of a line that it writes, in characters. */
  maxLine: number;
  /** File with model descriptions, which replaces the program's own list, for threads that name no other one. */
  catalog: string;
};

/** Starts `codex app-server` and initializes it. Rejects with its stderr output when it does not start. */
export async function startAppServer({ program, env, cwd, log, maxLine, catalog }: AppServerSpec): Promise<AppServer> {
  const listeners = createListeners((error, method) =>
    log.warn({ err: error, method }, 'codex sent a message that could not be parsed'),
  );
  const answers = new Map<string, Approvals['answer']>();
  const client = startRpcClient({
    command: program,
    args: [...appServerArgs, '-c', `model_catalog_json=${JSON.stringify(catalog)}`],
    env,
    cwd,
    maxLine,
    onNotification: listeners.notify,
    onRequest: ({ method, params }) => answers.get(String(params.threadId))?.(method, params) ?? refuse(method),
    onNoise: (line) => log.debug({ line: line.slice(0, 200) }, 'codex wrote a line that is not a message'),
  });
  void client.ended.then(({ reason, overflow }) => listeners.end(reason, overflow));
  try {
    await client.request('initialize', {
      clientInfo: { name: 'svc', title: 'Assistant Gateway', version: '1' },
      capabilities: { experimentalApi: false },
    });
  } catch (error) {
    await client.stop();
    throw error;
  }
  client.notify('initialized');
  return {
    request: client.request,
    pid: client.pid,
    ended: client.ended,
    ending: client.ending,
    stop: client.stop,
    kill: client.kill,
    endOrphans: client.endOrphans,
    subscribe: listeners.add,
    answerFor(threadId, answer) {
      answers.set(threadId, answer);
      return () => {
        // A turn that was abandoned may end after the next one has begun.
        if (answers.get(threadId) === answer) answers.delete(threadId);
      };
    },
  };
}
