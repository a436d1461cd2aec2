import { fromJsonSchema, type JsonSchemaType, McpServer } from '@modelcontextprotocol/server';
import { type ToolAnswer, toolDescriptions, toolInputs, type ToolName, toolNames } from '@svc/contract/toolbelt.ts';
import { toolbeltName } from '@svc/contract/tool-server.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** What a tool call came to, as text for the model. */
export type Forwarded = { ok: boolean; text: string };

export type ToolCall = { tool: ToolName; input: unknown; token: Secret; signal: AbortSignal };
export type ForwardCall = (call: ToolCall) => Promise<Forwarded>;

/** A send waits up to ten seconds for its first try. */
const timeoutMs = 30_000;

/** Hands tool calls to the core, which knows whose turn the token belongs to and decides. Never throws. */
export const createForwardCall =
  (coreUrl: string): ForwardCall =>
  async ({ tool, input, token, signal }) => {
    const url = `${coreUrl}/v2/toolbelt/${tool}`;
    try {
      const { body } = await requestJson<ToolAnswer | ErrorBody>(url, { body: input, token, signal, timeoutMs });
      return body.ok ? { ok: true, text: JSON.stringify(body.result) } : { ok: false, text: body.message };
    } catch {
      return { ok: false, text: 'The service could not be reached just now. Try again in a moment.' };
    }
  };

export type ServerDeps = { version: string; forward: ForwardCall };

/** Inputs are checked by the core, which must not rely on us anyway. */
const unchecked = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
};
const schemas = new Map(
  toolNames.map((tool) => [tool, fromJsonSchema(toolInputs[tool] as unknown as JsonSchemaType, unchecked)]),
);

/** An MCP server that acts with the rights of a token: one for each HTTP request, or for the life of a stdio connection. */
export function createServer({ version, forward }: ServerDeps, token: Secret): McpServer {
  const server = new McpServer({ name: toolbeltName, version });
  for (const tool of toolNames) addTool(server, tool, forward, token);
  return server;
}

function addTool(server: McpServer, tool: ToolName, forward: ForwardCall, token: Secret): void {
  const { title, description, readOnly } = toolDescriptions[tool];
  // Nothing here reaches beyond what the service knows, but sending does.
  const annotations = { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: tool === 'svc_send' };
  const config = { title, description, inputSchema: schemas.get(tool), annotations };
  server.registerTool(tool, config, async (input, { mcpReq }) => {
    const { ok, text } = await forward({ tool, input, token, signal: mcpReq.signal });
    return { content: [{ type: 'text', text }], isError: !ok };
  });
}
