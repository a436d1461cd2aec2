import { isRecord } from '@svc/contract/json-value.ts';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';

export type TestToolServer = {
  url: string;
  /** Input of every call of `echo`, in order. */
  calls: unknown[];
  /** The received Authorization headers, to check what the engine sends. */
  authorizations: (string | undefined)[];
  close(): Promise<void>;
};

/** A tool server (MCP over streamable HTTP, stateless) with the one tool `echo`, which answers `echo:<text>`. */
export async function startToolServer(): Promise<TestToolServer> {
  const calls: unknown[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    void (async () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      authorizations.push(request.headers.authorization);
      const message = await readMessage(request);
      if (message.id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message, calls) }));
    })();
  });
  const { url, close } = await listen(server);
  return { url: `${url}/mcp`, calls, authorizations, close };
}

type Message = { id?: unknown; method?: unknown; params?: unknown };

function answer({ method, params }: Message, calls: unknown[]): object {
  const fields = isRecord(params) ? params : {};
  switch (method) {
    case 'initialize':
      return { protocolVersion: fields.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'kit', version: '1' } };
    case 'tools/list':
      return { tools: [echoTool] };
    case 'tools/call':
      calls.push(fields.arguments);
      return { content: [{ type: 'text', text: `echo:${isRecord(fields.arguments) ? String(fields.arguments.text) : ''}` }] };
    default:
      return {};
  }
}

const echoTool = {
  name: 'echo',
  description: 'Says the text back.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

async function readMessage(request: IncomingMessage): Promise<Message> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : {};
}
