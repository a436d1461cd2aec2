import type { AddressInfo } from 'node:net';
import { http } from '@svc/service-kit/builtin.ts';

export type Forwarded = { url: string; authorization: string | undefined; body: unknown };

/** Stands for the core: notes what comes and answers what a test says. */
export async function startFakeCore() {
  const calls: Forwarded[] = [];
  let answer: { status: number; body: unknown } = { status: 200, body: { ok: true, result: { fine: 1 } } };
  const server = http.createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const { url = '', headers } = request;
      calls.push({ url, authorization: headers.authorization, body: JSON.parse(text) });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    calls,
    answers(status: number, body: unknown): void {
      answer = { status, body };
    },
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type FakeCore = Awaited<ReturnType<typeof startFakeCore>>;
