import type { Provider } from 'oidc-provider';
import type { Exchange } from '@svc/connector-kit';

/** What a proxy says of a request. Ours are made from the public address alone. */
const forwarded = [
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-for',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-server',
];

/** Has the authorization server answer a request as one that came to the public address, whatever its headers say. */
export async function answerByProvider(provider: Provider, origin: string, { req, res, requestId }: Exchange): Promise<void> {
  atPublicAddress(req, origin);
  res.setHeader('x-request-id', requestId);
  await provider.callback()(req, res);
}

/** For what is read from a request by the provider: cookies are signed, and bound to the scheme. */
export function atPublicAddress(req: Exchange['req'], origin: string): void {
  const { host, protocol } = new URL(origin);
  for (const name of forwarded) delete req.headers[name];
  req.headers.host = host;
  req.headers['x-forwarded-proto'] = protocol.slice(0, -1);
}
