/** Name of the service's own tool server. It can be switched off, never removed or replaced. */
export const toolbeltName = 'svc-toolbelt';

/** What every registered tool server (MCP) has, whatever it is reached by. */
type Common = {
  enabled: boolean;
  /** Also offered to callers who may only read. */
  safe: boolean;
  description?: string;
};

/** A program that speaks over its stdin and stdout. `env` values may name secrets as `${secret:NAME}`. */
export type StdioToolServer = { type: 'stdio'; command: string; args: string[]; env: Record<string, string> } & Common;
/** A server reached over HTTP. Header values may name secrets as `${secret:NAME}`. */
export type HttpToolServer = { type: 'http'; url: string; headers?: Record<string, string> } & Common;
export type ToolServerEntry = StdioToolServer | HttpToolServer;
/** A server of the service itself, which has a new address for each turn. */
export type BuiltInToolServer = { type: 'built-in' } & Common;

/** What is known of a server since the service started, from turns and tests. `at`: of the last word on it; times are epoch ms. */
export type ToolServerState =
  | { state: 'untried' }
  | { state: 'there'; at: number }
  | { state: 'missing'; at: number; reason: string; last_there_at: number | null };

/** The registry (spec: Tool registry), as `GET /v2/mcp` answers it: values that look like secrets are masked. */
export type ToolServerDocument = {
  servers: Record<string, ToolServerEntry | BuiltInToolServer>;
  states: Record<string, ToolServerState>;
};

/** Answer of `POST /v2/mcp`. */
export type ToolServerSaved = { ok: true; name: string; replaced: boolean; server: ToolServerEntry; warnings: string[] };
/** Answer of `POST /v2/mcp/:name/toggle`. */
export type ToolServerToggled = { ok: true; name: string; enabled: boolean };
/** Why a server could not be reached: what can be done about it differs. */
export type ToolServerFault = 'no_program' | 'ended' | 'timeout' | 'refused' | 'unreachable' | 'no_server' | 'secret' | 'other';

/** Answer of `POST /v2/mcp/:name/test`: what the server offers, or why it cannot be reached and what its program wrote last. */
export type ToolServerTest = { ok: true; name: string; ms: number } & (
  | { connected: true; tools: { name: string; description: string }[] }
  | { connected: false; fault: ToolServerFault; reason: string; stderr: string[] }
);
/** The longest that `POST /v2/mcp/:name/test` may be told to wait, in ms: a program may be downloaded first. */
export const maxToolTestMs = 300_000;

/** Answer of `POST /v2/mcp/import`: what became of each server of the file. */
export type ToolServerImport = {
  ok: true;
  imported: { name: string; as: string; enabled: boolean; replaced: boolean; warnings: string[] }[];
  skipped: { name: string; reason: string }[];
};
