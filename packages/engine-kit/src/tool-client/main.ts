import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { connect, type Connected } from './connect.ts';
import {
  type ClientOrder,
  type ClientReport,
  type ConnectOrder,
  maxClientLine,
  type ToolOutcome,
  tooMuchCode,
} from './messages.ts';
import { faultOf } from './fault-of.ts';

// A separate process: the MCP library needs more memory than the whole core, and any damage by a server ends with the process.
const connections = new Map<string, Connected>();

/** The library reads a message completely, however long, so memory is limited in case one never ends. */
const maxMemory = 512 * 1024 * 1024;
setInterval(() => {
  if (process.memoryUsage.rss() > maxMemory) process.exit(tooMuchCode);
}, 200);

const report = (message: ClientReport): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

async function connectAll({ servers, ...how }: ConnectOrder): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      const { state, client } = await connect(server, how);
      if (client !== null) connections.set(server.name, client);
      report({ type: 'server', state });
    }),
  );
}

async function call({ server, tool, input, limitMs }: Extract<ClientOrder, { type: 'call' }>): Promise<ToolOutcome> {
  const client = connections.get(server);
  if (client === undefined) return { ok: false, output: `The tool server ${server} is not available.` };
  try {
    // The cast: the server validates its input.
    const given = input as Record<string, unknown>;
    return outputText(await client.callTool({ name: tool, arguments: given }, { timeout: limitMs, maxTotalTimeout: limitMs }));
  } catch (error) {
    return { ok: false, output: `The tool server ${server} did not answer the call: ${faultOf(error, limitMs).reason}.` };
  }
}

async function follow(order: ClientOrder): Promise<void> {
  if (order.type === 'connect') await connectAll(order);
  else report({ type: 'outcome', ...(await call(order)) });
}

const orders = createLineSplitter(
  maxClientLine,
  (line) => void follow(JSON.parse(line) as ClientOrder),
  () => process.exit(1),
);
process.stdin.on('data', orders.push);
process.stdin.on('end', () => process.exit());

const maxOutput = 1024 * 1024;

/** A tool's result as text; images and the like are replaced by their names. */
export function outputText({ content, structuredContent, isError }: CallToolResult): ToolOutcome {
  const parts = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`));
  const text = parts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : parts.join('\n');
  return { ok: isError !== true, output: text.slice(0, maxOutput) };
}
