import type { FastifyReply } from 'fastify';
import type { Clock } from '../clock.ts';
import type { MaskedJson } from '../redaction/outbound-mask.ts';
import { openSseStream, type SseStream } from './sse-stream.ts';

export type { SseStream } from './sse-stream.ts';

/** One server-sent event. `data` is masked JSON, so no line break in a text can forge a frame. */
export const sseFrame = (event: string, data: MaskedJson, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;

/** Turns a Fastify reply into an event stream. */
export function openSse(reply: FastifyReply, clock: Clock): SseStream {
  reply.hijack();
  const { raw, request, server } = reply;
  return openSseStream(raw, { requestId: request.id, clock, wrote: (written) => server.unread.wrote(written) });
}
