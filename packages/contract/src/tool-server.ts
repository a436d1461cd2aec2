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
/** A server of the service itself, which makes its address anew for each turn. */
export type BuiltInToolServer = { type: 'built-in' } & Common;

/** The registry (spec: Tool registry), as `GET /v2/mcp` answers it: values that look like secrets are masked. */
export type ToolServerDocument = { servers: Record<string, ToolServerEntry | BuiltInToolServer> };

/** Answer of `POST /v2/mcp`. */
export type ToolServerSaved = { ok: true; name: string; replaced: boolean; server: ToolServerEntry; warnings: string[] };
/** Answer of `POST /v2/mcp/:name/toggle`. */
export type ToolServerToggled = { ok: true; name: string; enabled: boolean };
/** Answer of `POST /v2/mcp/import`: what became of each server of the file. */
export type ToolServerImport = {
  ok: true;
  imported: { name: string; as: string; enabled: boolean; replaced: boolean; warnings: string[] }[];
  skipped: { name: string; reason: string }[];
};
