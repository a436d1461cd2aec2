/** Our environment for the programs of another version, without internal variables. */
export function foreignEnv(): Record<string, string | undefined> {
  const { NODE_COMPILE_CACHE: _ours, NODE_COMPILE_CACHE_PORTABLE: _form, GATEWAY_LIFELINE: _lifeline, ...env } = process.env;
  return env;
}

const protocols = 'https:http:ssh:git:file';

/** Variables that git passes to its hooks name the caller's repository, not ours. */
export function gitEnv(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || name.startsWith('GIT_SSH'));
  return { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: protocols };
}
