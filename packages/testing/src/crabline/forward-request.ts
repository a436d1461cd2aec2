import type { IncomingMessage, ServerResponse } from '@svc/service-kit/builtin.ts';
import type { RawRequest } from '../telegram-server/read-call.ts';

/** Forwards a request to the server behind a proxy. When the client leaves, the forwarded request ends, too. */
export async function forwardRequest(
  target: string,
  { method = 'GET', headers: { authorization } }: IncomingMessage,
  { url, type, body }: RawRequest,
  response: ServerResponse,
) {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const headers = { ...(type !== '' && { 'content-type': type }), ...(authorization !== undefined && { authorization }) };
  const answered = await fetch(`${target}${url}`, {
    method,
    headers,
    ...(body.length > 0 && { body: Uint8Array.from(body) }),
    signal: gone.signal,
  });
  const answerType = answered.headers.get('content-type') ?? '';
  return { status: answered.status, body: Buffer.from(await answered.arrayBuffer()), type: answerType };
}
