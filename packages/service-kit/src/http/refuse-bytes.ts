import type { Socket } from 'node:net';
import { randomIds } from '../ids.ts';
import { badRequest } from '../service-error.ts';

const lines: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** The answer that is on its way over a connection; Node keeps it there. */
type Answering = Socket & { _httpMessage?: { headersSent: boolean } | null };

/**
 * Answers bytes that are no request with the error body of every other refusal, and ends the connection. An answer that has
 * begun is cut off instead: the refusal would pass for a part of it.
 */
export function refuseBytes(error: Error & { code?: string }, socket: Answering): void {
  const line = lines[error.code ?? ''] ?? '400 Bad Request';
  const { _httpMessage: answer } = socket;
  if (error.code !== 'ECONNRESET' && socket.writable && answer?.headersSent !== true) {
    const body = JSON.stringify(
      badRequest(`This is no HTTP request that is served here: ${line}.`).toBody(randomIds.next('req')),
    );
    const head = `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  socket.destroy(error);
}
