import { originOf } from '@svc/connector-kit';
import { isLoopbackName } from '@svc/service-kit/http/loopback.ts';
import { placeholderBaseUrl, type Config } from './meta.ts';

/**
 * The origin under which clients know this server: `base_url`, or while that is the placeholder the address it listens on. Every
 * address that is given out is made from it, never from what a request says of itself.
 * @throws Error with words for the operator.
 */
export function publicOrigin({ base_url: baseUrl, bind_host: host }: Config, port: number): string {
  if (baseUrl !== placeholderBaseUrl) return originOf(baseUrl, { http: 'loopback' });
  if (!isLoopbackName(host)) {
    throw new Error(
      'A bind_host that is reachable from the network also needs base_url, the https address by which clients reach this server.',
    );
  }
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
