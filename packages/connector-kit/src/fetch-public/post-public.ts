import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { internet, openPublic, parsePublicUrl, type Network } from './public-network.ts';

export type PublicPost = {
  headers: Record<string, string>;
  body: Buffer;
  /** Until the answer begins, ms. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Of the network, for tests. */
  network?: Network;
};

/**
 * Sends something to an address that a stranger has named, by the rules of `openPublic`. A redirect is not followed, and what the answer
 * says beside its status and headers is not read.
 * @throws NotPublicError, or the network's own error.
 */
export async function postPublic(
  address: string,
  options: PublicPost,
): Promise<Pick<IncomingMessage, 'headers'> & { status: number }> {
  const { headers, body, timeoutMs, signal, network = internet } = options;
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const length = { 'content-length': String(body.length) };
  const response = await openPublic(network, parsePublicUrl(address), {
    method: 'POST',
    headers: { ...headers, ...length },
    body,
    signal: within,
  });
  // An abort of the request would be an error that nobody handles.
  response.on('error', () => undefined).destroy();
  return { status: response.statusCode ?? 0, headers: response.headers };
}
