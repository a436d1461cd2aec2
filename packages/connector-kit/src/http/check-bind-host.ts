import { isIP } from 'node:net';
import { isLoopbackName } from '@svc/service-kit/http/loopback.ts';

type BindHost = {
  host: string;
  /** True when every caller must show a key or token. */
  needsToken: boolean;
  /** Host names that are served, besides those of this machine, which always are. */
  allowedHosts: readonly string[];
};

/**
 * Throws when a bind address would open the connector to a network by mistake. Beyond loopback, a token is required; for "all addresses",
 * the operator must also name the hosts under which it is reached.
 */
export function checkBindHost({ host, needsToken, allowedHosts }: BindHost): void {
  if (host === 'localhost') return;
  const version = isIP(host);
  if (version === 0) throw new Error(`bind_host "${host}" is not an IP address.`);
  if (version === 4 ? host.startsWith('127.') : host === '::1') return;
  if (!needsToken) throw new Error(`bind_host ${host} is reachable from the network. Require a key, or use 127.0.0.1.`);
  const isWildcard = host === '0.0.0.0' || /^[0:]+$/.test(host);
  if (isWildcard && allowedHosts.every(isLoopbackName)) {
    throw new Error(`bind_host ${host} listens on every address. List the host names to serve in SVC_ALLOWED_HOSTS first.`);
  }
}
