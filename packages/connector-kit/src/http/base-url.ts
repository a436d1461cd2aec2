import { isLoopbackUrl } from '@svc/service-kit/http/loopback.ts';

/**
 * The origin of the config's `base_url`, for URLs that are given out. `http`: whether an unencrypted address may belong to another machine.
 * @throws Error with a message for the operator.
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
