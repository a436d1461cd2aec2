/** Name of the service's own tool server. It can be switched off, but not removed or replaced. */
export const toolbeltName = 'svc-toolbelt';

/** The fields that every registered tool server (MCP) has, however it is reached. */
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

const texts = { type: 'object', additionalProperties: { type: 'string' } } as const;
const name = {
  type: 'string',
  title: 'Name',
  description: '1 to 64 of a-z, 0-9, "_" and "-".',
} as const;
const common = {
  safe: {
    type: 'boolean',
    title: 'Also for callers who may only read',
    description: 'Only if none of its tools can do harm.',
  },
  description: { type: 'string', title: 'Description', description: 'For people.' },
} as const;

/** The body for registering a tool server, by how it is reached. */
export const toolServerSchemas = {
  stdio: {
    type: 'object',
    required: ['name', 'command'],
    properties: {
      name,
      command: { type: 'string', title: 'Program', description: 'A program on this machine: its name or an absolute path.' },
      args: { type: 'array', title: 'Arguments', items: { type: 'string' } },
      env: { ...texts, title: 'Environment', description: 'A value may name a secret: ${secret:NAME}.' },
      ...common,
    },
  },
  http: {
    type: 'object',
    required: ['name', 'url'],
    properties: {
      name,
      url: { type: 'string', title: 'Address', description: 'The URL of a remote server (streamable HTTP).' },
      headers: { ...texts, title: 'Headers', description: 'A value may name a secret: ${secret:NAME}.' },
      ...common,
    },
  },
} as const;

/** What turns and tests since the start have shown about a server. `at`: when that was last observed; times are epoch ms. */
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
/** Why a server could not be reached, as each has its own remedy. */
export type ToolServerFault = 'no_program' | 'ended' | 'timeout' | 'refused' | 'unreachable' | 'no_server' | 'secret' | 'other';

/** Answer of `POST /v2/mcp/:name/test`: what the server offers, or why it cannot be reached and what its program wrote last. */
export type ToolServerTest = { ok: true; name: string; ms: number } & (
  | { connected: true; tools: { name: string; description: string }[] }
  | { connected: false; fault: ToolServerFault; reason: string; stderr: string[] }
);
/** The longest timeout of `POST /v2/mcp/:name/test`, in ms: a program may have to be downloaded first. */
export const maxToolTestMs = 300_000;

/** Answer of `POST /v2/mcp/import`: the result for each server of the file. */
export type ToolServerImport = {
  ok: true;
  imported: { name: string; as: string; enabled: boolean; replaced: boolean; warnings: string[] }[];
  skipped: { name: string; reason: string }[];
};
