const isPrivate = (name: string): boolean =>
  /^SVC_(?!NODE$|TEST_)|^(ANTHROPIC|OPENAI|CLAUDE|CODEX|GEMINI|GOOGLE)_|^CLAUDECODE$|_API_KEY$|^NODE_COMPILE_CACHE_PORTABLE$/.test(
    name,
  );

/**
 * The environment of tests: without this machine's settings and keys, but with the switches of the tests themselves (`SVC_TEST_…`). Tests hand on only
 * the folder of compiled code, so that what they load finds it in the same form as the processes that they start.
 */
export const cleanEnv = (all: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !isPrivate(name)));
