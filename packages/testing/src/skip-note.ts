import { spawnSync } from 'node:child_process';
import { test, type TestFunction } from 'vitest';

/** A suffix for the name of a test or a group that is skipped: the report of a run lists it under this reason. Empty for `null`. */
export const skipNote = (why: string | null): string => (why === null ? '' : ` (skipped: ${why})`);

/** A test that is skipped for this reason; for `null`, one that runs. */
export const testUnless =
  (why: string | null) =>
  (name: string, body: TestFunction, timeoutMs?: number): void =>
    why === null ? test(name, body, timeoutMs) : test.skip(name + skipNote(why), body);

/** Why tests in real terminals are skipped; null when they run. */
export const whyNoTmux = (): string | null => whyNoProgram('tmux', '-V');

/** Why tests of a shell are skipped; null when they run. */
export const whyNoShell = (shell: string): string | null => whyNoProgram(shell, '--version');

/** Why tests of what only Linux has are skipped; null on Linux. */
export const whyNotLinux = (): string | null => (process.platform === 'linux' ? null : 'only Linux has what it tests');

/** Why tests that take minutes are skipped; null when they run. `how`: the variable that asks for them, with its value. */
export const unlessAsked = (how: string, isAsked: boolean): string | null =>
  isAsked ? null : `it takes minutes; ${how} runs it`;

/** Programs are named as their packages are. */
const whyNoProgram = (program: string, ask: string): string | null =>
  spawnSync(program, [ask]).status === 0 ? null : `there is no ${program}; Debian: apt-get install ${program}`;
