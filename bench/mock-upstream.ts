import { setTimeout as sleep } from 'node:timers/promises';
import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';

/**
 * A chat completions server that costs next to nothing: the model id says what it answers, `mock-n64` with 64 tokens at
 * once, `mock-n20-gap20` with 20 tokens 20 ms apart.
 */
const words = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi'.split(' ');

const numberIn = (model: string, tag: string, fallback: number) =>
  Number(new RegExp(`-${tag}(\\d+)`).exec(model)?.[1] ?? fallback);
const chunk = (delta: object) =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })}\n\n`;

async function stream(response: ServerResponse, tokens: string[], gapMs: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (gapMs === 0) response.write(tokens.map((content) => chunk({ content })).join(''));
  else {
    for (const content of tokens) {
      await sleep(gapMs);
      response.write(chunk({ content }));
    }
  }
  response.end('data: [DONE]\n\n');
}

const server = http.createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    if (request.method === 'GET') {
      response.end('{}');
      return;
    }
    const body = JSON.parse(Buffer.concat(parts).toString()) as { model: string; stream?: boolean };
    const tokens = Array.from({ length: numberIn(body.model, 'n', 64) }, (_, i) => `${words[i % words.length]} `);
    if (body.stream === true) void stream(response, tokens, numberIn(body.model, 'gap', 0));
    else {
      const choices = [{ index: 0, message: { role: 'assistant', content: tokens.join('') }, finish_reason: 'stop' }];
      response.end(JSON.stringify({ object: 'chat.completion', choices }));
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env['PORT'] ?? 9100), '127.0.0.1', 4096);
