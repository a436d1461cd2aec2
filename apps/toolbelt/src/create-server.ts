import { fromJsonSchema, type JsonSchemaType, McpServer } from '@modelcontextprotocol/server';
import { deviceToolsName, type DeviceTool, type DeviceToolList } from '@svc/contract/device-tools.ts';
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

/** Asks the core about the device of a turn. */
export type Device = {
  /** What the token's turn may use. @throws Error when that is not known: an engine would keep an empty list. */
  tools(token: Secret): Promise<readonly DeviceTool[]>;
  /** Never throws. */
  call(call: { tool: string; input: unknown; token: Secret; signal: AbortSignal }): Promise<Forwarded>;
};

/** `callMs`: the longest that a call takes. A person may be asked first. */
export function createDevice(coreUrl: string, callMs: number): Device {
  const url = `${coreUrl}/v2/device-tools`;
  return {
    async tools(token) {
      const { body } = await requestJson<DeviceToolList | ErrorBody>(url, { token, timeoutMs });
      if (!body.ok) throw new Error(body.message);
      return body.tools;
    },
    async call({ tool, input, token, signal }) {
      try {
        const request = { body: { tool, input }, token, signal, timeoutMs: callMs };
        const { body } = await requestJson<ToolAnswer | ErrorBody>(url, request);
        return body.ok ? { ok: true, text: JSON.stringify(body.result) } : { ok: false, text: body.message };
      } catch {
        return { ok: false, text: 'The device could not be reached just now. Try again in a moment.' };
      }
    },
  };
}

export type ServerDeps = { version: string; forward: ForwardCall; device: Device };

/** Inputs are checked by the core, which must not rely on us anyway. */
const unchecked = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
};
const schemas = new Map(
  toolNames.map((tool) => [tool, fromJsonSchema(toolInputs[tool] as unknown as JsonSchemaType, unchecked)]),
);

/** An MCP server that acts with the rights of a token: one for each HTTP request, or for the life of a stdio connection. */
export function createServer({ version, forward }: Pick<ServerDeps, 'version' | 'forward'>, token: Secret): McpServer {
  const server = new McpServer({ name: toolbeltName, version });
  for (const tool of toolNames) addTool(server, tool, forward, token);
  return server;
}

/** An MCP server of the device that the token's conversation is with: what it can do is asked for each request. */
export async function createDeviceServer({ version, device }: ServerDeps, token: Secret): Promise<McpServer> {
  const server = new McpServer({ name: deviceToolsName, version });
  for (const tool of await device.tools(token)) addDeviceTool(server, tool, device, token);
  return server;
}

function addDeviceTool(server: McpServer, { name, description, input, policy }: DeviceTool, device: Device, token: Secret): void {
  const inputSchema = fromJsonSchema({ ...input, type: 'object' } as JsonSchemaType, unchecked);
  const annotations = { readOnlyHint: policy === 'read', openWorldHint: true };
  server.registerTool(name, { description, inputSchema, annotations }, async (params, { mcpReq }) => {
    const { ok, text } = await device.call({ tool: name, input: params, token, signal: mcpReq.signal });
    return { content: [{ type: 'text', text }], isError: !ok };
  });
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
