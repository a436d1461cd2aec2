import type { ToolServerFault } from '@svc/contract/tool-server.ts';
import type { ToolServer } from '../engine.ts';

/** A tool as its server describes it. */
export type ServedTool = { name: string; description: string };

/** How connecting to a tool server went. `stderr`: what the program wrote last. */
export type ServerState =
  | { name: string; there: true; ms: number; tools: ServedTool[] }
  | { name: string; there: false; ms: number; fault: ToolServerFault; reason: string; stderr: string };

export type ToolOutcome = { ok: boolean; output: string };

/** `env`: what every program gets beside its own. */
export type ConnectOrder = { type: 'connect'; servers: readonly ToolServer[]; env: Record<string, string>; limitMs: number };

/** Requests to the client's process: to connect, once, then to call tools one by one. */
export type ClientOrder = ConnectOrder | { type: 'call'; server: string; tool: string; input: unknown; limitMs: number };

/** What it says: one line for each server, one for each call. */
export type ClientReport = { type: 'server'; state: ServerState } | ({ type: 'outcome' } & ToolOutcome);

/** The longest line either side writes, in characters; what a tool gives is cut to fit. */
export const maxClientLine = 4 * 1024 * 1024;

/** Exit code of a client that was sent more than it may hold. */
export const tooMuchCode = 90;
