import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTextTail, type TextTail } from '@svc/service-kit/process/text-tail.ts';
import type { ToolServer } from '../engine.ts';
import { faultOf } from './fault-of.ts';
import type { ConnectOrder, ServedTool, ServerState } from './messages.ts';

export type Connected = Pick<Client, 'callTool'>;

const most = { tools: 500, name: 200, description: 500, stderr: 4000 };

/** Connects to a server and lists its tools, both within the limit. A failure is returned as a state, and ends what was started. */
export async function connect(
  server: ToolServer,
  { env, limitMs }: Pick<ConnectOrder, 'env' | 'limitMs'>,
): Promise<{ state: ServerState; client: Connected | null }> {
  const startedAt = performance.now();
  const stderr = createTextTail(most.stderr);
  const client = new Client({ name: 'assistant-gateway', version: '1' });
  const options = () => ({ timeout: Math.max(1, limitMs - (performance.now() - startedAt)) });
  const ms = () => Math.round(performance.now() - startedAt);
  try {
    await client.connect(transportOf(server, env, stderr), options());
    const { tools } = await client.listTools(undefined, options());
    return { state: { name: server.name, there: true, ms: ms(), tools: tools.slice(0, most.tools).map(toServed) }, client };
  } catch (error) {
    void client.close().catch(() => undefined); // the whole process will end soon
    const fault = faultOf(error, limitMs);
    return { state: { name: server.name, there: false, ms: ms(), ...fault, stderr: stderr.read() }, client: null };
  }
}

function transportOf(server: ToolServer, common: Record<string, string>, stderr: TextTail): Transport {
  if (server.type === 'http') {
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } });
  }
  const { command, args, env } = server;
  const transport = new StdioClientTransport({ command, args, env: { ...common, ...env }, stderr: 'pipe' });
  transport.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk.toString()));
  return transport;
}

const toServed = ({ name, description = '' }: { name: string; description?: string | undefined }): ServedTool => ({
  name: name.slice(0, most.name),
  description: description.slice(0, most.description),
});
