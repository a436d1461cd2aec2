const certificates = new Set(['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS']);

/** Whether npm uses a variable: its own settings, and those for network access. */
export const isForNpm = (name: string): boolean =>
  certificates.has(name) || /^npm_config_/i.test(name) || /^(https?|no|all)_proxy$/i.test(name);

const names = new Set(['PATH', 'HOME', 'USER', 'TMPDIR']);

/** The environment for npm: its own settings and what it needs to reach a registry, but no keys. The locale is always UTF-8. */
export function npmEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isNeeded = (name: string) => names.has(name) || isForNpm(name);
  const own = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isNeeded(entry[0]));
  return { ...Object.fromEntries(own), LC_ALL: 'C.UTF-8' };
}

/** Why npm failed: the error lines of its log, without their prefix. */
export function npmReason(stderr: string): string {
  const errors = stderr.split('\n').flatMap((line) => /^npm (?:error|ERR!) (?!A complete log)(.+)/.exec(line)?.[1] ?? []);
  return `npm did not finish: ${errors.slice(0, 4).join('; ') || stderr.trim().split('\n').at(-1) || 'no reason given'}`;
}
