import { onTestFinished } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';

/** Stands for the manager: it says which types and instances of connectors there are. Ends with the test. */
export async function standInManager(instances: object[], types: object[] = []) {
  const server = http.createServer((request, response) => {
    const body = request.url === '/types' ? { types } : { instances };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return { env: { SVC_MANAGER_PORT: String(port) }, close };
}
