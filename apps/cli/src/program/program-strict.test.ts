import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { commandsBelow } from './command-reference.ts';
import { pathOf } from './find-command.ts';
import { lazyCommands, type Commands } from './lazy-commands.ts';
import { allCommands } from './program.ts';
import { runProgram } from './run-program.ts';

/** Every command only records that it ran. */
const command = vi.fn(async () => 0);
const commands = Object.fromEntries(Object.keys(lazyCommands).map((name) => [name, command])) as unknown as Commands;

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

async function run(words: readonly string[]): Promise<{ code: number; ran: boolean }> {
  command.mockClear();
  const code = await runProgram(words, commands);
  return { code, ran: command.mock.calls.length > 0 };
}

/** Every command with its subcommands. */
const all = commandsBelow(allCommands()).map((each) => pathOf(each).split(' ').slice(1).join(' '));

/** Commands that pass their arguments to another program. */
const passOn = ['test', 'engine login'];
/** Commands that take free text, a code or any number of names. */
const takeWords = [
  'chat',
  'speak',
  'pair',
  'send',
  'search',
  'tool add',
  'person add',
  'session title',
  'session inject',
  'terminal send',
  'announce add',
  'announce remove',
  'upload',
  'upload add',
  'upload remove',
  'delivery retry',
  'delivery dismiss',
];

test('every command rejects unknown options without running', async () => {
  expect(all.length).toBeGreaterThan(70);
  for (const words of all.filter((each) => !passOn.includes(each))) {
    for (const more of [['--jsn'], ['--json=yes', '--jsn'], ['-Z'], ['a', '--jsn']]) {
      const { code, ran } = await run([...words.split(' '), ...more]);
      expect([words, more, code, ran]).toEqual([words, more, 2, false]);
    }
  }
});

test('every command that takes no free text rejects extra words without running', async () => {
  const many = Array.from({ length: 12 }, (_, n) => `word-${n}`);
  for (const words of all) {
    if ([...passOn, ...takeWords].includes(words)) continue;
    const { code, ran } = await run([...words.split(' '), ...many]);
    expect([words, code, ran]).toEqual([words, 2, false]);
  }
});
