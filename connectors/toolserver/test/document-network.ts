import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { onTestFinished } from 'vitest';
import { listen } from '@svc/testing/listen.ts';

/** An internet on which one client's document lies at the address that is its id, and nothing else. */
export function documentNetwork(document: { client_id: string }): Network {
  const server = http.createServer((request, response) => {
    const isThere = `https://${request.headers.host}${request.url}` === document.client_id;
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  const listening = listen(server);
  onTestFinished(async () => (await listening).close());
  return {
    isAllowed: () => true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    request(url, options, onResponse) {
      const { port } = server.address() as { port: number };
      const headers = { ...options.headers, host: url.host };
      return http.request({ ...options, host: '127.0.0.1', port, path: url.pathname, headers }, onResponse);
    },
  };
}
