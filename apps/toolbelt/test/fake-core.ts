import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';

export type Forwarded = { url: string; authorization: string | undefined; body: unknown };

/** A stand-in for the core that records requests and gives the answer that a test has set. */
export async function startFakeCore() {
  const calls: Forwarded[] = [];
  let answered: string | null = null;
  const keepsWaiting = (method: string | undefined) => answered !== null && method !== answered;
  let answer: { status: number; body: unknown } = { status: 200, body: { ok: true, result: { fine: 1 } } };
  const server = http.createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const { url = '', headers } = request;
      calls.push({ url, authorization: headers.authorization, body: text === '' ? null : JSON.parse(text) });
      if (keepsWaiting(request.method)) return;
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    })();
  });
  return {
    ...(await listen(server)),
    calls,
    answers(status: number, body: unknown): void {
      answer = { status, body };
      answered = null;
    },
    /** Leaves requests of other methods without an answer. */
    answersOnly(method: string): void {
      answered = method;
    },
  };
}

export type FakeCore = Awaited<ReturnType<typeof startFakeCore>>;
