const isPrivate = (name: string): boolean =>
  /^SVC_(?!NODE$|TEST_)|^(ANTHROPIC|OPENAI|CLAUDE|CODEX|GEMINI|GOOGLE)_|^CLAUDECODE$|_API_KEY$/.test(name);

/** The environment of tests: without this machine's settings and keys, but with the switches of the tests themselves (`SVC_TEST_…`). */
export const cleanEnv = (all: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !isPrivate(name)));
