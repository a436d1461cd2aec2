import type { Secret } from '@svc/service-kit/secret.ts';
import { pinOf, type GitSource } from './git-source.ts';

/** For servers that require a user name beside the token; they ignore its value. */
const anyUser = 'x-access-token';

/** The settings that let git reach only this server: the checked addresses, and the credential for this host alone. */
export function fetchSettings(source: GitSource, addresses: readonly string[], credential: Secret | null): [string, string][] {
  const settings: [string, string][] = [];
  const pin = pinOf(source, addresses);
  if (pin !== null && source.scheme !== 'git') settings.push(['http.curloptResolve', pin]);
  if (credential !== null)
    settings.push([`http.${new URL('/', source.url).href}.extraHeader`, headerOf(credential.reveal().trim())]);
  return settings;
}

function headerOf(value: string): string {
  const pair = value.includes(':') ? value : `${anyUser}:${value}`;
  return `Authorization: Basic ${Buffer.from(pair).toString('base64')}`;
}
