import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runProgram, type Commands } from './program.ts';

/** Every command is one that notes that it ran. */
const command = vi.fn(async () => 0);
const commands = new Proxy({}, { get: () => command }) as Commands;

let out = '';
beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

async function run(words: readonly string[]): Promise<{ code: number; out: string; ran: boolean }> {
  out = '';
  command.mockClear();
  const code = await runProgram(words, commands);
  return { code, out, ran: command.mock.calls.length > 0 };
}

/** Every command that the help shows, however deep, each after the one that it belongs to. */
async function allBelow(words: readonly string[] = []): Promise<string[][]> {
  const help = (await run([...words, '--help'])).out.split('Examples:')[0] ?? '';
  const names = [...(help.split('Commands:')[1]?.matchAll(/^ {2}(\w\S*)/gm) ?? [])].map(([, name = '']) => name);
  const found: string[][] = [];
  for (const name of names) {
    if (name === 'help') continue;
    const path = [...words, name];
    found.push(path, ...(await allBelow(path)));
  }
  return found;
}

/** What follows them is handed on: to vitest. `engine` looks at its words itself, for `login` hands them on. */
const passOn = ['test'];
/** They end in a text, a code or names of any number. */
const takeWords = ['chat', 'speak', 'pair', 'send', 'search', 'tool add', 'trust add'];

test('an option that no command knows is refused by every command, and nothing runs', async () => {
  const all = await allBelow();
  expect(all.length).toBeGreaterThan(70);
  for (const words of all.map((each) => each.join(' ')).filter((each) => !passOn.includes(each))) {
    for (const more of [['--jsn'], ['--json=yes', '--jsn'], ['-Z'], ['a', '--jsn']]) {
      const { code, ran } = await run([...words.split(' '), ...more]);
      expect([words, more, code === 0, ran]).toEqual([words, more, false, false]);
    }
  }
});

test('words that nobody asked for are refused by every command that takes no text, and nothing runs', async () => {
  const many = Array.from({ length: 12 }, (_, n) => `word-${n}`);
  for (const words of (await allBelow()).map((each) => each.join(' '))) {
    if ([...passOn, ...takeWords].includes(words)) continue;
    const { code, ran } = await run([...words.split(' '), ...many]);
    expect([words, code === 0, ran]).toEqual([words, false, false]);
  }
});
