import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';

/**
 * The engine stub of the benchmarks, a script of the offline engine: it streams its reply from a chat-completions
 * server (BENCH_UPSTREAM), so that ours does the same work for a request as the plain proxy beside it.
 */
const upstream = new URL(process.env['BENCH_UPSTREAM'] ?? 'http://127.0.0.1:9100/v1/chat/completions');
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
const target = { host: upstream.hostname, port: upstream.port, path: upstream.pathname, method: 'POST', agent };

export async function* respond(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const body = JSON.stringify({
    model: request.facts.channel_context['requested_model'] ?? 'mock-n64',
    stream: true,
    messages: [
      { role: 'system', content: request.system },
      { role: 'user', content: request.prompt },
    ],
  });
  const reads = readTexts(await post(body, signal));
  let whole = '';
  for (let text = await reads(); text !== null; text = await reads()) {
    whole += text;
    yield { type: 'delta', text };
  }
  yield { type: 'segment', text: whole };
}

const post = (body: string, signal: AbortSignal) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = http.request({ ...target, headers }, resolve);
    outgoing.on('error', reject);
    signal.addEventListener('abort', () => outgoing.destroy(), { once: true });
    outgoing.end(body);
  });

/** Gives the text of each read of the upstream's event stream, then null. */
function readTexts(response: IncomingMessage): () => Promise<string | null> {
  let text = '';
  let ended = false;
  let wake: (() => void) | null = null;
  const splitter = createLineSplitter(
    1_000_000,
    (line) => {
      // The mock's words need no unescaping: reading its protocol in full would measure the stub.
      text += /"delta":\{"content":"([^"]*)"/.exec(line)?.[1] ?? '';
    },
    () => undefined,
  );
  response.on('data', (part: Buffer) => {
    splitter.push(part);
    wake?.();
  });
  response.on('close', () => {
    ended = true;
    wake?.();
  });
  return async () => {
    if (text === '' && !ended) await new Promise<void>((resolve) => (wake = resolve));
    const read = text;
    text = '';
    return read === '' && ended ? null : read;
  };
}
