import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const textInput = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] };

/** A tool server of the official SDK with the tools `echo`, which answers `echo:<text>`, and `env`, which lists the names in its environment. */
export function createEchoToolServer(onCall: (input: unknown) => void = () => undefined): Server {
  const server = new Server({ name: 'echo', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      { name: 'echo', description: 'Says the text back.', inputSchema: textInput },
      { name: 'env', description: 'Names its environment.', inputSchema: { type: 'object' as const, properties: {} } },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    onCall(params.arguments);
    const text = params.name === 'env' ? environment() : `echo:${String(params.arguments?.text)}`;
    return { content: [{ type: 'text', text }] };
  });
  return server;
}

/** Names alone, but for those that a test gives it. */
const environment = (): string =>
  Object.entries(process.env)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => (name.startsWith('GIVEN_') ? `${name}=${value}` : name))
    .toSorted()
    .join('\n');
