import type { ServerResponse } from '@svc/service-kit/builtin.ts';

export type SseStream = { event(type: string, fields: object): void; end(): void };

/** Opens a server-sent event stream in the vendors' form: every event repeats its name in `type`. */
export function openSseStream(response: ServerResponse): SseStream {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return {
    event: (type, fields) => void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`),
    end: () => void response.end(),
  };
}
