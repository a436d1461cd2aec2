import { mkdirSync } from 'node:fs';
import path from 'node:path';

/** What every program needs: where things are, whose they are, how text is written, how the network is reached. */
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

/** The own tool server, a model server of this machine and what stands before it: no proxy may see them, least of all their tokens. */
const loopback = 'localhost,127.0.0.1,127.0.0.0/8,::1,[::1]';

/**
 * What no proxy is asked for, under both names: programs look at one or the other first. `*` alone means everything, and only as long as it
 * stands alone.
 */
export function aroundProxy(env: Readonly<Record<string, string | undefined>>): { NO_PROXY: string; no_proxy: string } {
  const withLoopback = (value = '') => (value.trim() === '' ? loopback : value.trim() === '*' ? '*' : `${value},${loopback}`);
  return {
    NO_PROXY: withLoopback(env.NO_PROXY || env.no_proxy),
    no_proxy: withLoopback(env.no_proxy || env.NO_PROXY),
  };
}

/**
 * Environment of an engine's process, whose temporary files lie in its own state folder: the common names, every `LC_*`, and the engine's own `names`; nothing else. The
 * service's secrets and other vendors' keys stay behind, whatever they are called.
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
  picked.TMPDIR = path.join(stateDir, 'tmp');
  mkdirSync(picked.TMPDIR, { recursive: true, mode: 0o700 });
  return picked;
}
