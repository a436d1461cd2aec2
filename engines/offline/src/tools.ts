import type { EngineEvent, EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import type { ServedTool, ServerState, ToolOutcome } from '@svc/engine-kit/tool-client/messages.ts';
import { openToolClient } from '@svc/engine-kit/tool-client/tool-client.ts';
import { allowedToolServers, toolServerMissing } from '@svc/engine-kit/tool-servers.ts';

/** Where tool servers are started from. */
export type ToolPlace = { env: Readonly<Record<string, string | undefined>>; stateDir: string };

/** A tool of the turn: `server.tool` is its full name. */
export type TurnTool = ServedTool & { server: string; fullName: string };

/** The tools of one turn. Built in is a clock, so that a machine without a tool server shows a call too. */
export type TurnTools = {
  /** What the servers offer, and a notice for each that is not there. */
  list(): Promise<{ tools: TurnTool[]; missing: EngineEvent[] }>;
  call(tool: TurnTool, input: unknown): Promise<ToolOutcome>;
  close(): Promise<void>;
};

/** As the other engines: to come up, and for one call. */
const limits = { connectMs: 10_000, callMs: 300_000 };

/**
 * Connects to the tool servers that the caller of the turn may use, or to the one that `wanted` names. Aborting ends it:
 * what is waited for then fails at once.
 */
export function openTurnTools(
  request: Pick<EngineRequest, 'toolPolicy' | 'toolServers' | 'cwd'>,
  place: ToolPlace,
  signal: AbortSignal,
  wanted: string | null = null,
): TurnTools {
  const servers = allowedToolServers(request).filter(({ name }) => wanted === null || name === wanted);
  if (servers.length === 0) return noServers;
  const client = openToolClient({ ...place, servers, cwd: request.cwd, limitMs: limits.connectMs });
  const end = () => void client.close();
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return {
    async list() {
      const states = await client.states;
      return { tools: states.flatMap(toTools), missing: states.flatMap(toMissing) };
    },
    call({ server, name }, input) {
      const limitMs = servers.find((each) => each.name === server)?.callTimeoutMs ?? limits.callMs;
      return client.call({ server, tool: name, input, limitMs });
    },
    async close() {
      signal.removeEventListener('abort', end);
      await client.close();
    },
  };
}

const noServers: TurnTools = {
  list: () => Promise.resolve({ tools: [], missing: [] }),
  call: () => Promise.resolve({ ok: false, output: 'There is no tool server.' }),
  close: () => Promise.resolve(),
};

const toTools = (state: ServerState): TurnTool[] =>
  state.there ? state.tools.map((tool) => ({ ...tool, server: state.name, fullName: `${state.name}.${tool.name}` })) : [];

const toMissing = (state: ServerState): EngineEvent[] => (state.there ? [] : [toolServerMissing(state.name, state.reason)]);

/** One harmless tool, so that a machine without a tool server can still show what a tool call looks like. */
export const clockName = 'clock';

/** The time, in the zone that the input names. */
export function readClock(input: unknown): ToolOutcome {
  const zone = (input as { timeZone?: unknown } | null)?.timeZone;
  try {
    return { ok: true, output: new Date().toLocaleString('en-GB', { timeZone: typeof zone === 'string' ? zone : undefined }) };
  } catch (error) {
    return { ok: false, output: (error as Error).message };
  }
}

/** The server that a name begins with, as in `server.tool`; null for a plain name. */
export function serverOf(name: string, servers: readonly Pick<ToolServer, 'name'>[]): string | null {
  return servers.find((server) => name.startsWith(`${server.name}.`))?.name ?? null;
}

/** The tool that is meant: by its full name, or by a plain one that only one server has. Else what to say instead. */
export function findTool<Tool extends { name: string; fullName: string }>(
  name: string,
  tools: readonly Tool[],
  others: readonly string[],
): { tool: Tool } | { answer: string } {
  const full = tools.find(({ fullName }) => fullName === name);
  if (full !== undefined) return { tool: full };
  const [tool, ...more] = tools.filter((one) => one.name === name);
  if (tool !== undefined && more.length === 0) return { tool };
  if (tool !== undefined) {
    return {
      answer: `Several tool servers have a tool "${name}". Say which: ${[tool, ...more].map(({ fullName }) => fullName).join(', ')}.`,
    };
  }
  const all = [...others, ...tools.map(({ fullName }) => fullName)].join(', ');
  return { answer: `There is no tool "${name}" in this turn. There is: ${all || 'none'}.` };
}
