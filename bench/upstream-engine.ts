import { createConnection, type Socket } from 'node:net';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';

/**
 * The engine stub of the benchmarks, a script of the offline engine: it streams its reply from a chat-completions
 * server (BENCH_UPSTREAM), so that ours does the same work for a request as the plain proxy beside it. It speaks just
 * enough HTTP over lasting connections to cost little itself: what is measured is the service.
 */
const upstream = new URL(process.env['BENCH_UPSTREAM'] ?? 'http://127.0.0.1:9100/v1/chat/completions');
const idle: Socket[] = [];
const lastChunk = '\r\n0\r\n\r\n';

export async function* respond(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const model = request.facts.channel_context['requested_model'] ?? 'mock-n64';
  const messages = [
    { role: 'system', content: request.system },
    { role: 'user', content: request.prompt },
  ];
  const next = post(JSON.stringify({ model, stream: true, messages }), signal);
  let whole = '';
  for (let text = await next(); text !== null; text = await next()) {
    whole += text;
    yield { type: 'delta', text };
  }
  yield { type: 'segment', text: whole };
}

/** Sends a request; the returned function gives the text of each read of the reply, then null. */
function post(body: string, signal: AbortSignal): () => Promise<string | null> {
  const socket =
    idle.pop() ?? createConnection({ host: upstream.hostname, port: Number(upstream.port), noDelay: true }).setEncoding('utf8');
  let text = '';
  let rest = '';
  let ended = false;
  let wake = () => {};
  const onData = (read: unknown) => {
    rest += String(read);
    const end = rest.lastIndexOf('\n');
    for (const match of rest.slice(0, end).matchAll(/"delta":\{"content":"([^"]*)"/g)) text += match[1];
    if (rest.endsWith(lastChunk)) finish(true);
    rest = rest.slice(end);
    wake();
  };
  const onClose = () => finish(false);
  const finish = (isReusable: boolean) => {
    ended = true;
    socket.off('data', onData).off('close', onClose);
    signal.removeEventListener('abort', onAbort);
    if (isReusable) idle.push(socket);
    wake();
  };
  const onAbort = () => socket.destroy();
  socket.on('data', onData).on('close', onClose);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.write(
    `POST ${upstream.pathname} HTTP/1.1\r\nhost: ${upstream.host}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return async () => {
    if (text === '' && !ended) await new Promise<void>((resolve) => (wake = resolve));
    const read = text;
    text = '';
    return read === '' && ended ? null : read;
  };
}
