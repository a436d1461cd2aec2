import { isRecord } from '@svc/contract/json-value.ts';
import { askPermission } from '@svc/engine-kit/ask-permission.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import type { TurnNotification } from './codex-messages.ts';

type Params = Record<string, unknown>;
type Asked = { what: string; detail: string };

/** Answers codex's questions in a turn. */
export type Approvals = {
  /** Remembers details that a later question refers to. */
  saw(notification: TurnNotification): void;
  /** The answer to a question of codex. */
  answer(method: string, params: Params): Promise<object>;
};

/** Maximum number of file changes that wait at once. */
const maxChanges = 100;

/** Passes codex's questions on to the person: whether it may run a command outside of its sandbox, change a file, or call a tool. */
export function createApprovals(ask: NonNullable<EngineRequest['ask']>): Approvals {
  const changes = new Map<string, string>();
  return {
    saw({ method, params }) {
      if (method !== 'item/started' || params.item.type !== 'fileChange') return;
      if (changes.size < maxChanges) changes.set(params.item.id, changeText(params.item.changes));
    },
    async answer(method, params) {
      const asked = askedAbout(method, params, changes);
      if (asked === null) return refuse(method);
      const { allowed } = await askPermission(ask, asked);
      return allowed ? accept(method) : refuse(method);
    },
  };
}

/** The subject of a question; null for a question that no person is asked. */
function askedAbout(method: string, params: Params, changes: ReadonlyMap<string, string>): Asked | null {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return aboutCommand(params);
    case 'item/fileChange/requestApproval': {
      const detail = changes.get(String(params.itemId));
      return detail === undefined ? null : { what: 'May the assistant change these files?', detail };
    }
    case 'mcpServer/elicitation/request':
      return aboutTool(params);
    default:
      return null;
  }
}

function aboutCommand({ kind, command, cwd, networkApprovalContext: network }: Params): Asked | null {
  if (isRecord(network)) return { what: 'May the assistant reach this address?', detail: JSON.stringify(network) };
  if (typeof command !== 'string') return null;
  const what = kind === 'command' || kind === undefined ? 'run this command' : 'type this into a running command';
  return { what: `May the assistant ${what}?`, detail: typeof cwd === 'string' ? `${command}\n\nin ${cwd}` : command };
}

/** A tool server may ask questions of its own, which nobody answers. */
function aboutTool({ serverName, _meta: meta }: Params): Asked | null {
  if (!isRecord(meta) || meta.codex_approval_kind !== 'mcp_tool_call') return null;
  const { tool_title, tool_name, tool_params } = meta;
  const tool = [tool_name, tool_title].find((name) => typeof name === 'string');
  return {
    what: `May the assistant use ${tool ?? 'a tool'} of ${String(serverName)}?`,
    detail: JSON.stringify(tool_params ?? {}, null, 2),
  };
}

const changeText = (changes: readonly { path: string; diff?: string }[]): string =>
  changes.map(({ path, diff }) => [path, diff ?? ''].join('\n')).join('\n\n');

/** Allows it only this once. */
const accept = (method: string): object =>
  method === 'mcpServer/elicitation/request' ? { action: 'accept', content: {}, _meta: null } : { decision: 'accept' };

export const refuse = (method: string): object =>
  method === 'mcpServer/elicitation/request' ? { action: 'decline', content: null, _meta: null } : { decision: 'decline' };
