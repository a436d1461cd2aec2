import { isLoopbackUrl } from '@svc/service-kit/http/loopback.ts';

/**
 * The origin that a `base_url` of a config names, as it stands in what is given out. `http`: whether it may be one of another machine
 * without encryption.
 * @throws Error with words for the operator.
 */
export function originOf(baseUrl: string, { http }: { http: 'anywhere' | 'loopback' }): string {
  const url = URL.parse(baseUrl);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || url.pathname !== '/')
    throw new Error('base_url must be an address such as https://assistant.example.org, without a path.');
  if (url.protocol === 'https:') return url.origin;
  if (url.protocol !== 'http:') throw new Error('base_url must begin with https://.');
  if (http === 'anywhere' || isLoopbackUrl(url)) return url.origin;
  throw new Error('base_url must begin with https://; http:// is allowed only for this machine.');
}
