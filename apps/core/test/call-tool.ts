import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';

export type Called = { ok: boolean; text: string; result: Record<string, unknown> };
type HttpServer = Extract<ToolServer, { type: 'http' }>;

/** The toolbelt as a turn's engine was given it. */
export function toolbeltOf({ toolServers }: Pick<EngineRequest, 'toolServers'>): HttpServer {
  const server = toolServers.find(({ name }) => name === 'svc-toolbelt');
  if (server?.type !== 'http') throw new Error('the turn has no toolbelt');
  return server;
}

/** Calls a tool as an engine does: over MCP, with the headers it was given. */
export async function callTool({ url, headers }: HttpServer, name: string, input: object = {}): Promise<Called> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  try {
    const answer = await client.callTool({ name, arguments: { ...input } });
    const [first] = answer.content as { text: string }[];
    const text = first?.text ?? '';
    const ok = answer.isError !== true;
    return { ok, text, result: ok ? (JSON.parse(text) as Record<string, unknown>) : {} };
  } finally {
    await client.close();
  }
}
