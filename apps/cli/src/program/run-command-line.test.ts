import { expect, test, vi } from 'vitest';
import { lazyCommands, type Commands } from './lazy-commands.ts';
import { bareCommands, runCommandLine } from './run-command-line.ts';
import { runProgram } from './run-program.ts';

test.each([...bareCommands.keys()] as (keyof Commands)[])(
  '%s alone gives the same call with and without the parser',
  async (name) => {
    const command = vi.spyOn(lazyCommands, name as 'status').mockResolvedValue(0);
    await runProgram([name]);
    expect(await runCommandLine([name])).toBe(0);
    const [parsed, bare] = command.mock.calls;
    expect(bare).toEqual(parsed);
    command.mockRestore();
  },
);
