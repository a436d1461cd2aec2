/** What any Node child may have: how to find programs, where home is, the language, the compile cache. */
const harmlessNames = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_COMPILE_CACHE'] as const;

/** The harmless variables that are set. A child gets what is listed and nothing else, so no token reaches it by accident. */
export function pickEnv(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = harmlessNames,
): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
