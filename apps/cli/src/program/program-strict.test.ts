import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { commandsBelow } from './command-reference.ts';
import { pathOf } from './find-command.ts';
import { lazyCommands, type Commands } from './lazy-commands.ts';
import { allCommands } from './program.ts';
import { runProgram } from './run-program.ts';

/** Every command is one that notes that it ran. */
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

/** Every command, however deep, each after the one that it belongs to. */
const all = commandsBelow(allCommands()).map((each) => pathOf(each).split(' ').slice(1).join(' '));

/** What follows them is for a program that they start. */
const passOn = ['test', 'engine login'];
/** They end in a text, a code or names of any number. */
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

test('an option that no command knows is refused by every command, and nothing runs', async () => {
  expect(all.length).toBeGreaterThan(70);
  for (const words of all.filter((each) => !passOn.includes(each))) {
    for (const more of [['--jsn'], ['--json=yes', '--jsn'], ['-Z'], ['a', '--jsn']]) {
      const { code, ran } = await run([...words.split(' '), ...more]);
      expect([words, more, code, ran]).toEqual([words, more, 2, false]);
    }
  }
});

test('words that nobody asked for are refused by every command that takes no text, and nothing runs', async () => {
  const many = Array.from({ length: 12 }, (_, n) => `word-${n}`);
  for (const words of all) {
    if ([...passOn, ...takeWords].includes(words)) continue;
    const { code, ran } = await run([...words.split(' '), ...many]);
    expect([words, code, ran]).toEqual([words, 2, false]);
  }
});
