import type { PackedFile } from './make-tarball.ts';

export const codexPackage = '@openai/codex';

export type FakeCodexOptions = {
  /** What its program says it is; unless given, the version it is published as. */
  says?: string;
  isLoggedIn?: boolean;
};

/** A package that looks like codex: its program answers what the engine asks before a turn. */
export function fakeCodex(
  version: string,
  { says = version, isLoggedIn = true }: FakeCodexOptions = {},
): Record<string, PackedFile> {
  const program = `#!/bin/sh
case "$1" in
  --version) echo "codex-cli ${says}" ;;
  login) ${isLoggedIn ? 'echo "Logged in using ChatGPT"' : 'echo "Not logged in"; exit 1'} ;;
  *) exit 2 ;;
esac
`;
  return { 'vendor/any/bin/codex': { text: program, isProgram: true } };
}
