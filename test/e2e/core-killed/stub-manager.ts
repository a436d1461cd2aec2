import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';

/** What a channel got for one target, by idempotency id. */
export type Pushed = Map<string, { text: string; times: number }>;

export type StubManager = Awaited<ReturnType<typeof startStubManager>>;

/** A manager whose `/send` accepts texts, and is at random slow, unreachable or cut off in mid-answer. `random`: 0 to 1. */
export async function startStubManager(port: number, random: () => number) {
  const targets = new Map<string, Pushed>();
  let isSound = false;

  const take = (id: string, { target, text }: { target: string; text: string }) => {
    const pushed = targets.get(target) ?? new Map();
    const times = (pushed.get(id)?.times ?? 0) + 1;
    targets.set(target, pushed.set(id, { text, times }));
  };

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // A starting core asks for the connectors: there are none.
      if (request.method === 'GET') return answer(response, 200, { types: [], instances: [] });
      const luck = isSound ? 1 : random();
      if (luck < 0.15) return answer(response, 503, { ok: false, error: 'unavailable', message: 'not now' });
      take(String(request.headers['idempotency-key']), JSON.parse(Buffer.concat(chunks).toString('utf8')));
      if (luck < 0.25) return void response.destroy();
      const done = () => answer(response, 200, { ok: true, delivered: true });
      if (luck < 0.5) setTimeout(done, 200);
      else done();
    });
  });
  const { close } = await listen(server, port);

  return {
    targets,
    /** From now on everything is accepted and answered at once. */
    becomeSound: () => void (isSound = true),
    close,
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
