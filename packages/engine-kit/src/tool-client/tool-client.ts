import path from 'node:path';
import type { ToolServerFault } from '@svc/contract/tool-server.ts';
import { engineEnv } from '../engine-env.ts';
import type { ToolServer } from '../engine.ts';
import { startLineProcess } from '../line-process.ts';
import { maxClientLine, tooMuchCode, type ClientReport, type ServerState, type ToolOutcome } from './messages.ts';

export type ToolClientOptions = {
  servers: readonly ToolServer[];
  /** The environment from which the common variables are taken. */
  env: Readonly<Record<string, string | undefined>>;
  /** Folder for temporary files. */
  stateDir: string;
  /** Working folder of the servers' programs. */
  cwd: string;
  /** Timeout of connecting to a server and listing its tools, ms. */
  limitMs: number;
};

/** A small client of tool servers (MCP), in a process of its own. */
export type ToolClient = {
  /** The state of each server, in order. Takes a limited time; never rejects. */
  readonly states: Promise<ServerState[]>;
  /** Calls a tool of a connected server. One call at a time, within a limited time; never rejects. */
  call(order: { server: string; tool: string; input: unknown; limitMs: number }): Promise<ToolOutcome>;
  /** Ends the process and all servers that it has started. */
  close(): Promise<void>;
};

/** Time after the limit until an unresponsive process is ended, ms. */
const graceMs = 5000;
const entry = path.join(import.meta.dirname, 'main.ts');
/** A small young generation and no debugger, as in every process of the service. */
const nodeArgs = ['--max-semi-space-size=2', '--disable-sigusr1'];

/** Starts the client, which connects to all servers at once. */
export function openToolClient({ servers, env, stateDir, cwd, limitMs }: ToolClientOptions): ToolClient {
  const common = engineEnv(env, stateDir);
  const known = new Map<string, ServerState>();
  const all = Promise.withResolvers<void>();
  let outcome: PromiseWithResolvers<ToolOutcome> | null = null;
  const program = startLineProcess({
    command: process.execPath,
    args: [...nodeArgs, entry],
    env: clientEnv(common, env),
    cwd,
    maxLine: maxClientLine,
    onMessage: (message) => take(message as ClientReport),
  });

  const take = (report: ClientReport) => {
    if (report.type === 'outcome') return outcome?.resolve({ ok: report.ok, output: report.output });
    known.set(report.state.name, report.state);
    if (known.size === servers.length) all.resolve();
  };
  const fail = (fault: ToolServerFault, reason: string) => {
    for (const { name } of servers)
      known.set(name, known.get(name) ?? { name, there: false, ms: limitMs, fault, reason, stderr: '' });
    all.resolve();
    outcome?.resolve({ ok: false, output: `The call failed: ${reason}.` });
  };
  void program.ended.then(({ code, reason }) =>
    fail('ended', code === tooMuchCode ? 'it sent more data than is accepted' : reason),
  );
  const late = bounded(limitMs, () => fail('timeout', `it did not answer within ${limitMs / 1000} s`));
  void all.promise.then(late.cancel);
  program.send({ type: 'connect', servers, env: common, limitMs });

  return {
    states: all.promise.then(() => servers.flatMap(({ name }) => known.get(name) ?? [])),
    async call(order) {
      const waiting = Promise.withResolvers<ToolOutcome>();
      outcome = waiting;
      const tooLate = bounded(order.limitMs, () => fail('timeout', `it took longer than ${order.limitMs / 1000} s`));
      program.send({ type: 'call', ...order });
      try {
        return await waiting.promise;
      } finally {
        tooLate.cancel();
      }
    },
    close: () => program.kill(),
  };
}

function bounded(limitMs: number, onLate: () => void): { cancel(): void } {
  const timer = setTimeout(onLate, limitMs + graceMs);
  return { cancel: () => clearTimeout(timer) };
}

/** Makes the client start fast, and reach remote servers through the proxy that programs would use. */
function clientEnv(common: Record<string, string>, env: ToolClientOptions['env']): Record<string, string> {
  const cache = ['NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_PORTABLE'].map((name) => [name, env[name]]);
  return { ...common, NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(cache.filter(([, value]) => value !== undefined)) };
}
