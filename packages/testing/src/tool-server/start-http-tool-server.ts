import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';
import { createEchoToolServer } from './echo-tool-server.ts';

export type HttpToolServer = {
  url: string;
  /** The input of every call, in order. */
  calls: unknown[];
  /** The received Authorization headers. */
  authorizations: (string | undefined)[];
  close(): Promise<void>;
};

/** A real HTTP tool server of the official SDK (streamable HTTP, stateless). With `hangs` it accepts requests and never answers. */
export async function startHttpToolServer({ hangs = false, port = 0 } = {}): Promise<HttpToolServer> {
  const calls: unknown[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    if (hangs) return;
    const mcp = createEchoToolServer((input) => calls.push(input));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void mcp.close());
    // Cast because the SDK's transport types conflict under `exactOptionalPropertyTypes`.
    void mcp.connect(transport as never).then(() => transport.handleRequest(request, response));
  });
  const { url, close } = await listen(server, port);
  return { url: `${url}/mcp`, calls, authorizations, close };
}
