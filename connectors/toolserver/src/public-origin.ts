import { isLoopbackName } from '@svc/service-kit/http/guard.ts';
import { placeholderBaseUrl, type Config } from './meta.ts';

/**
 * The origin under which clients know this server: `base_url`, or while that is the placeholder the address it listens on. Every
 * address that is given out is made from it, never from what a request says of itself.
 * @throws Error with words for the operator.
 */
export function publicOrigin({ base_url: baseUrl, bind_host: host }: Config, port: number): string {
  if (baseUrl !== placeholderBaseUrl) return checkOrigin(baseUrl);
  if (!isLoopbackName(host)) {
    throw new Error(
      'With a bind_host of the network, base_url has to say the https address under which clients reach this server.',
    );
  }
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function checkOrigin(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || url.pathname !== '/')
    throw new Error('base_url has to be an address such as https://assistant.example.org, without a path.');
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackName(url.hostname.replace(/^\[|\]$/g, ''))))
    return url.origin;
  throw new Error('base_url has to begin with https://; http:// is for this machine alone.');
}
