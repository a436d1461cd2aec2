import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a platform answers where nothing happens. For one of your own: its routes, and what your connector needs to start. */
const answers: Record<string, unknown> = { '/me': { name: 'quiet' }, '/updates': [] };

/** Starts it on a free port and gives its address. It ends with the process. */
export async function startQuietPlatform(): Promise<string> {
  const server = createServer((req, res) => {
    const route = req.url?.split('?')[0] ?? '';
    setTimeout(() => res.end(JSON.stringify(answers[route] ?? {})), route === '/updates' ? 200 : 0).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
