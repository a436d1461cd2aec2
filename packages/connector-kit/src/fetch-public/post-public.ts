import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { internet, openPublic, parsePublicUrl, type Network } from './public-network.ts';

export type PublicPost = {
  headers: Record<string, string>;
  body: Buffer;
  /** Timeout until the answer begins, ms. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Replaces the network in tests. */
  network?: Network;
};

/**
 * Posts to an address that a stranger has named, under the rules of `openPublic`. Redirects are not followed, and only the status and
 * headers of the answer are read.
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
  // Aborting the request causes an error that nobody else handles.
  response.on('error', () => undefined).destroy();
  return { status: response.statusCode ?? 0, headers: response.headers };
}
