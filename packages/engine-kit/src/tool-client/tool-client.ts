import path from 'node:path';
import type { ToolServerFault } from '@svc/contract/tool-server.ts';
import { engineEnv } from '../engine-env.ts';
import type { ToolServer } from '../engine.ts';
import { startLineProcess } from '../line-process.ts';
import { maxClientLine, tooMuchCode, type ClientReport, type ServerState, type ToolOutcome } from './messages.ts';

export type ToolClientOptions = {
  servers: readonly ToolServer[];
  /** What to draw the common environment from. */
  env: Readonly<Record<string, string | undefined>>;
  /** Folder for temporary files. */
  stateDir: string;
  /** Where the servers' programs work. */
  cwd: string;
  /** The longest that a server may take to connect and list its tools, in ms. */
  limitMs: number;
};

/** A light client of tool servers (MCP), in a process of its own that is there for this one purpose. */
export type ToolClient = {
  /** How every server stands, in their order. Bounded; never rejects. */
  readonly states: Promise<ServerState[]>;
  /** Calls a tool of a server that is there. One call at a time. Bounded; never rejects. */
  call(order: { server: string; tool: string; input: unknown; limitMs: number }): Promise<ToolOutcome>;
  /** Ends the process and every server it has started. */
  close(): Promise<void>;
};

/** From the limit to the end of a process that does not keep to it. */
const graceMs = 5000;
const entry = path.join(import.meta.dirname, 'main.ts');
/** A small nursery, and no debugger: as every process of the service. */
const nodeArgs = ['--max-semi-space-size=2', '--disable-sigusr1'];

/** Starts the client and has it connect to the servers, all at once. */
export function openToolClient({ servers, env, stateDir, cwd, limitMs }: ToolClientOptions): ToolClient {
  const common = engineEnv(env, stateDir);
  const known = new Map<string, ServerState>();
  const all = Promise.withResolvers<void>();
  let outcome: PromiseWithResolvers<ToolOutcome> | null = null;
  const program = startLineProcess({
    command: process.execPath,
    args: [...nodeArgs, entry],
    env: clientEnv(common, env['NODE_COMPILE_CACHE']),
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

/** The client itself starts fast, and reaches remote servers through the proxy that programs would use. */
function clientEnv(common: Record<string, string>, cache: string | undefined): Record<string, string> {
  return { ...common, NODE_USE_ENV_PROXY: '1', ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }) };
}
