import type { Socket } from 'node:net';
import type { IncomingMessage, Server, ServerResponse } from '../builtin.ts';
import { randomIds } from '../ids.ts';
import { badRequest, ServiceError } from '../service-error.ts';

/** How a protocol writes an error. */
export type RenderRefusal = (error: ServiceError, requestId: string) => { body: string; headers?: Record<string, string> };

const ourBody: RenderRefusal = (error, requestId) => ({ body: JSON.stringify(error.toBody(requestId)) });

const statuses: Record<string, { status: number; line: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, line: '431 Request Header Fields Too Large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, line: '413 Payload Too Large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, line: '408 Request Timeout' },
};
const malformed = { status: 400, line: '400 Bad Request' };

/** How long a sender may continue to send: if it were disconnected while sending, it would not read the response. */
const lingerMs = 1000;

/** The current response of a connection, where Node stores it. */
type Answering = Socket & { _httpMessage?: { headersSent: boolean } | null };

/**
 * Answers requests that Node itself would refuse with our usual error body: bytes that are no request, headers that are too
 * long or too slow, `Expect` and `CONNECT`. A request without `Host` must be left to the guard (`requireHostHeader: false`).
 */
export function answerRefusedRequests(server: Server, render: RenderRefusal = ourBody): void {
  const ended = new WeakSet<Socket>();
  server.on('clientError', (error: Error & { code?: string }, socket: Answering) => {
    // What still arrives is no request either.
    if (ended.has(socket)) return;
    ended.add(socket);
    const { _httpMessage: answer } = socket;
    // The refusal would be taken for a part of the response that has begun.
    if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent === true) return void socket.destroy(error);
    const { status, line } = statuses[error.code ?? ''] ?? malformed;
    const fault = badRequest(`The HTTP request was refused: ${line}.`);
    writeRefusal(socket, line, render, new ServiceError(fault.code, fault.message, { status }));
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    const line = '405 Method Not Allowed';
    socket.on('error', () => undefined); // there is no other listener from here on
    writeRefusal(
      socket,
      line,
      render,
      new ServiceError('bad_request', 'This server is not a proxy, so CONNECT is not supported.', { status: 405 }),
    );
    socket.resume();
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const error = new ServiceError(
      'bad_request',
      'This server supports no expectation but 100-continue. Remove the header Expect.',
      {
        status: 417,
      },
    );
    const requestId = randomIds.next('req');
    const { body, headers } = render(error, requestId);
    response.writeHead(417, headersOf(body, requestId, headers)).end(body);
    request.resume();
  });
}

const headersOf = (body: string, requestId: string, more: Record<string, string> = {}): Record<string, string> => ({
  connection: 'close',
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
  'x-request-id': requestId,
  ...more,
});

function writeRefusal(socket: Socket, line: string, render: RenderRefusal, error: ServiceError): void {
  const requestId = randomIds.next('req');
  const { body, headers } = render(error, requestId);
  const fields = Object.entries(headersOf(body, requestId, headers)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${line}\r\n${fields.join('')}\r\n${body}`);
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(linger));
}
