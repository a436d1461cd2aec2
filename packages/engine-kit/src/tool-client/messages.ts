import type { ToolServerFault } from '@svc/contract/tool-server.ts';
import type { ToolServer } from '../engine.ts';

/** A tool, as its server describes it. */
export type ServedTool = { name: string; description: string };

/** The result of connecting to a tool server. `stderr`: the last output of its program. */
export type ServerState =
  | { name: string; there: true; ms: number; tools: ServedTool[] }
  | { name: string; there: false; ms: number; fault: ToolServerFault; reason: string; stderr: string };

export type ToolOutcome = { ok: boolean; output: string };

/** `env`: variables for every program, besides its own. */
export type ConnectOrder = { type: 'connect'; servers: readonly ToolServer[]; env: Record<string, string>; limitMs: number };

/** Requests to the client's process: first one to connect, then tool calls one by one. */
export type ClientOrder = ConnectOrder | { type: 'call'; server: string; tool: string; input: unknown; limitMs: number };

/** Reports of the client's process: one line per server, and one per call. */
export type ClientReport = { type: 'server'; state: ServerState } | ({ type: 'outcome' } & ToolOutcome);

/** Maximum line length on either side, in characters; tool results are cut to fit. */
export const maxClientLine = 4 * 1024 * 1024;

/** Exit code of a client that received more than it may hold. */
export const tooMuchCode = 90;
