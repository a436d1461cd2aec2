import { fromJsonSchema, McpServer, type JsonSchemaType } from '@modelcontextprotocol/server';
import { toolDescriptions, toolInputs, toolNames, type ToolName } from '@svc/contract/toolbelt.ts';
import { toolbeltName } from '@svc/contract/tool-server.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { ForwardCall } from './forward-call.ts';

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
