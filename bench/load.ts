import { http } from '@svc/service-kit/builtin.ts';

export type Target = { name: string; url: string; headers: Record<string, string> };
export type LoadCase = { model: string; stream: boolean; concurrency: number; count: number };
export type Measured = { p50: number; firstToken: number; perSecond: number; errors: number };

const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(12);
let serial = 0;

/** Every request begins a conversation of its own. */
const body = ({ model, stream }: LoadCase) =>
  JSON.stringify({ model, stream, messages: [{ role: 'user', content: `q${process.pid}-${serial++} ${filler}` }] });

/** Sends `count` requests over `concurrency` lasting connections. Times are ms. */
export async function runLoad(target: Target, load: LoadCase): Promise<Measured> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: load.concurrency });
  const totals: number[] = [];
  const firsts: number[] = [];
  let sent = 0;
  let errors = 0;
  const one = () =>
    new Promise<void>((resolve) => {
      const text = body(load);
      const headers = { ...target.headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const begun = performance.now();
      let first = 0;
      let tail = '';
      const request = http.request(target.url, { agent, method: 'POST', headers }, (response) => {
        response.on('data', (part: Buffer) => {
          if (first === 0 && part.includes('"content":"a')) first = performance.now() - begun;
          tail = part.toString('utf8', Math.max(0, part.length - 32));
        });
        response.on('end', () => {
          const isWhole = response.statusCode === 200 && (!load.stream || tail.includes('[DONE]'));
          if (!isWhole) errors++;
          totals.push(performance.now() - begun);
          if (first > 0) firsts.push(first);
          resolve();
        });
      });
      request.on('error', () => {
        errors++;
        resolve();
      });
      request.end(text);
    });
  const began = performance.now();
  const worker = async () => {
    while (sent++ < load.count) await one();
  };
  await Promise.all(Array.from({ length: load.concurrency }, worker));
  const seconds = (performance.now() - began) / 1000;
  agent.destroy();
  return { p50: median(totals), firstToken: median(firsts), perSecond: totals.length / seconds, errors };
}

export const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN;
