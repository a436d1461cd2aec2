import { createForwardCall } from './forward-call.ts';
import { awaitStart, tellReady } from './parent.ts';
import { serveHttp } from './serve-http.ts';
import { serveStdio } from './serve-stdio.ts';

/** Two forms: `main.ts stdio` for an operator's own MCP client, and without it HTTP, as a child of the core. */
if (process.argv[2] === 'stdio') {
  serveStdio();
} else {
  const { coreUrl, version, port } = await awaitStart();
  const form = await serveHttp({ version, forward: createForwardCall(coreUrl) }, port);
  tellReady(form.port);
}
