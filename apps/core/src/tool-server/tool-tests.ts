import path from 'node:path';
import type { ToolServerTest } from '@svc/contract/tool-server.ts';
import type { ServerState } from '@svc/engine-kit/tool-client/messages.ts';
import { openToolClient, type ToolClient } from '@svc/engine-kit/tool-client/tool-client.ts';
import { missingText } from '@svc/engine-kit/tool-servers.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Workspaces } from '../session/workspaces.ts';
import type { ToolServers } from './tool-servers.ts';

type Deps = {
  toolServers: Pick<ToolServers, 'launch' | 'attempted'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
  env: Readonly<Record<string, string | undefined>>;
  workspaces: Workspaces;
  paths: Pick<DataPaths, 'engineState'>;
};

export type ToolTests = {
  /** Connects to a server once and lists its tools. An unreachable server is a result, not an error. @throws `not_found`, `busy`. */
  run(name: string, limitMs: number, gone: AbortSignal): Promise<ToolServerTest>;
  /** Cancels the running tests. */
  close(): Promise<void>;
};

const mostAtOnce = 4;
const stderrLines = 10;

/** Tests tool servers, each in its own process, with the operator's rights and the secrets resolved. */
export function createToolTests({ toolServers, knownSecrets, env, workspaces, paths }: Deps): ToolTests {
  const stateDir = path.join(paths.engineState, 'tool-tests');
  const running = new Set<ToolClient>();
  const closing = new AbortController();
  let count = 0;

  const connect = async (name: string, limitMs: number, gone: AbortSignal): Promise<ServerState> => {
    const launch = await toolServers.launch(name, gone);
    if (gone.aborted) return { name, there: false, ms: 0, fault: 'other', reason: 'its test was interrupted', stderr: '' };
    if ('problem' in launch) return { name, there: false, ms: 0, fault: 'secret', reason: launch.problem, stderr: '' };
    makePrivateDir(stateDir);
    // The working folder of the operator's turns, so that a server starts as it does in one.
    const cwd = workspaces.shared();
    const client = openToolClient({ servers: [launch.server], env, stateDir, cwd, limitMs });
    running.add(client);
    const end = () => void client.close();
    gone.addEventListener('abort', end, { once: true });
    try {
      const [state] = await client.states;
      return state ?? { name, there: false, ms: limitMs, fault: 'other', reason: 'its state is unknown', stderr: '' };
    } finally {
      gone.removeEventListener('abort', end);
      await client.close();
      running.delete(client);
    }
  };

  return {
    async run(name, limitMs, gone) {
      if (count >= mostAtOnce)
        throw new ServiceError('busy', `${mostAtOnce} tool servers are already being tested. Try again in a moment.`);
      count++;
      try {
        const cutOff = AbortSignal.any([gone, closing.signal]);
        const state = await connect(name, limitMs, cutOff);
        const test = toTest(state, (text) => knownSecrets.redactor().text(text));
        // A cancelled test says nothing about the server.
        if (!cutOff.aborted) toolServers.attempted(name, test.connected ? null : missingText(name, test.reason));
        return test;
      } finally {
        count--;
      }
    },
    async close() {
      closing.abort();
      await Promise.all(Array.from(running, (client) => client.close()));
    },
  };
}

function toTest(state: ServerState, mask: (text: string) => string): ToolServerTest {
  const { name, ms } = state;
  if (state.there) {
    const tools = state.tools.map((tool) => ({ name: mask(tool.name), description: mask(tool.description) }));
    return { ok: true, name, ms, connected: true, tools };
  }
  const stderr = mask(state.stderr)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-stderrLines);
  return { ok: true, name, ms, connected: false, fault: state.fault, reason: mask(state.reason), stderr };
}
