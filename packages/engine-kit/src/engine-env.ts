import { mkdirSync } from 'node:fs';
import { temporaryDir } from './temporary-files.ts';

/** Variables that every program needs: folders, user, locale and network. */
const commonNames = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TERM',
  'TZ',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
] as const;

/** Our tool server, local model servers and the relays in front of them: no proxy may see their requests, let alone their tokens. */
const loopback = 'localhost,127.0.0.1,127.0.0.0/8,::1,[::1]';

/**
 * Addresses that bypass the proxy, under both names, because programs differ in which they read first. `*` means everything, but only when
 * it stands alone.
 */
export function aroundProxy(env: Readonly<Record<string, string | undefined>>): { NO_PROXY: string; no_proxy: string } {
  const withLoopback = (value = '') => (value.trim() === '' ? loopback : value.trim() === '*' ? '*' : `${value},${loopback}`);
  return {
    NO_PROXY: withLoopback(env.NO_PROXY || env.no_proxy),
    no_proxy: withLoopback(env.no_proxy || env.NO_PROXY),
  };
}

/**
 * The environment of an engine's process, with temporary files in its own state folder. It contains the common names, every `LC_*`, and the
 * engine's own `names`, and nothing else: never the service's secrets or other vendors' keys, whatever they are called.
 */
export function engineEnv(
  env: Readonly<Record<string, string | undefined>>,
  stateDir: string,
  names: readonly string[] = [],
): Record<string, string> {
  const picked: Record<string, string> = {};
  const localeNames = Object.keys(env).filter((name) => name.startsWith('LC_'));
  for (const name of [...commonNames, ...localeNames, ...names]) {
    const value = env[name];
    if (value !== undefined) picked[name] = value;
  }
  Object.assign(picked, aroundProxy(picked));
  picked.TMPDIR = temporaryDir(stateDir);
  mkdirSync(picked.TMPDIR, { recursive: true, mode: 0o700 });
  return picked;
}
