import type { ServerResponse } from '@svc/service-kit/builtin.ts';

export type SseStream = {
  /** An event in the form of most vendors: it repeats its name in `type`. */
  event(type: string, fields: object): void;
  /** An event without a name. */
  data(fields: object): void;
  end(): void;
};

/** Opens a server-sent event stream. */
export function openSseStream(response: ServerResponse): SseStream {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return {
    event: (type, fields) => void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`),
    data: (fields) => void response.write(`data: ${JSON.stringify(fields)}\n\n`),
    end: () => void response.end(),
  };
}
